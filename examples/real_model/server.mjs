// A small language model behind the wire of OpenAI's chat completions, on loopback: node server.mjs MODEL.gguf [PORT] [MOST_TOOLS].
// A reply to a request with tools is decoded under a grammar that is made of their schemas, so it is always a tool call that fits.
import {createServer} from "node:http";
import {getLlama, LlamaCompletion} from "node-llama-cpp";

const [modelPath, port = "0", mostTools = "8"] = process.argv.slice(2);
const CONTEXT = 8192;
const MOST_REPLY = 400; // tokens
const MOST_TEXT = 60; // characters of a text in an argument
const MOST_ITEMS = 2;

const llama = await getLlama({gpu: false, build: "never", logLevel: "error"});
const model = await llama.loadModel({modelPath});
// One thread: more fall behind each other on a machine that is busy.
const context = await model.createContext({contextSize: CONTEXT, threads: 1});
const completion = new LlamaCompletion({contextSequence: context.getSequence()});

/** The schema of a tool's argument as the grammar takes it: without references and ranges, its texts and lists short. */
function grammarSchema(schema, defs) {
    if (schema.$ref) return grammarSchema(defs[schema.$ref.split("/").at(-1)], defs);
    const among = schema.oneOf ?? schema.anyOf;
    if (among) return {oneOf: among.map((inner) => grammarSchema(inner, defs))};
    if ("const" in schema) return {const: schema.const};
    if (schema.enum) return {enum: schema.enum};
    if (schema.type === "object" || schema.properties) {
        const properties = Object.entries(schema.properties ?? {});
        return {type: "object", properties: Object.fromEntries(properties.map(([name, inner]) => [name, grammarSchema(inner, defs)]))};
    }
    if (schema.type === "array") return {type: "array", items: grammarSchema(schema.items ?? {type: "string"}, defs), maxItems: MOST_ITEMS};
    if (schema.type === "string") return {type: "string", maxLength: Math.min(schema.maxLength ?? MOST_TEXT, MOST_TEXT)};
    return {type: schema.type ?? "string"};
}

const grammars = new Map();

/** The grammar of a JSON Schema, for JSON on a line. */
async function grammarOf(schema) {
    const key = JSON.stringify(schema);
    if (!grammars.has(key)) {
        const {grammar} = await llama.createGrammarForJsonSchema(schema);
        const compact = grammar
            .replace(/^(root ::= .*) "\\n\\n\\n\\n" \[\\n\]\*$/m, "$1")
            .replace(/^(whitespace-\S+) ::= .*$/gm, '$1 ::= ""')
            .replace(/^(comma-whitespace-\S+) ::= .*$/gm, '$1 ::= ", "')
            .replace(/^integer-number-rule ::= .*$/m, 'integer-number-rule ::= "0" | [1-9] [0-9]{0,4}')
            .replace(/^fractional-number-rule ::= .*$/m, 'fractional-number-rule ::= ("0" | [1-9] [0-9]{0,4}) ("." [0-9]{1,2})?');
        grammars.set(key, await llama.createGrammar({grammar: compact}));
    }
    return grammars.get(key);
}

function promptOf(messages, tools) {
    const offered = tools.map(({name, description, parameters}) => `${name}(${Object.keys(parameters?.properties ?? {}).join(", ")}): ${(description ?? "").split("\n")[0]}`);
    const how = tools.length ? `\n\nReply with one call of a tool: {"name": ..., "arguments": {...}}. The tools:\n${offered.join("\n")}` : "";
    const parts = messages.map((message, place) => {
        const calls = (message.tool_calls ?? []).map((call) => `{"name": "${call.function.name}", "arguments": ${call.function.arguments}}`);
        const text = [textOf(message.content), ...calls].filter(Boolean).join("\n");
        return `<|im_start|>${message.role === "tool" ? "user" : message.role}\n${text}${place ? "" : how}<|im_end|>\n`;
    });
    return `${parts.join("")}<|im_start|>assistant\n`;
}

function textOf(content) {
    return Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : content ?? "";
}

/** At most so many items, from the first to the last. */
function spread(items, most) {
    if (items.length <= most) return items;
    return Array.from({length: most}, (_, place) => items[Math.round(place * (items.length - 1) / (most - 1))]);
}

let asked = 0;

async function complete({messages, tools = [], response_format: format, temperature, seed, max_tokens: most, max_completion_tokens: limit}) {
    const offered = spread(tools, Number(mostTools)).map((tool) => tool.function);
    const shapes = offered.map(({name, parameters = {}}) => ({type: "object", properties: {name: {const: name}, arguments: grammarSchema({type: "object", ...parameters}, parameters.$defs ?? {})}}));
    const schema = shapes.length ? {oneOf: shapes} : format?.json_schema ? grammarSchema(format.json_schema.schema, format.json_schema.schema.$defs ?? {}) : null;
    const tokens = model.tokenize(promptOf(messages, offered), true);
    if (tokens.length + MOST_REPLY > CONTEXT) throw {status: 400, code: "context_length_exceeded", message: `the prompt has ${tokens.length} tokens; the context holds ${CONTEXT}`};
    const maxTokens = schema ? MOST_REPLY : Math.min(limit ?? most ?? MOST_REPLY, MOST_REPLY);
    const text = await completion.generateCompletion(tokens, {maxTokens, temperature: temperature ?? 0.7, seed: seed ?? ++asked, ...(schema ? {grammar: await grammarOf(schema)} : {customStopTriggers: ["<|im_end|>"]})});
    const message = {role: "assistant", content: offered.length ? null : text};
    if (offered.length) {
        const call = JSON.parse(text);
        message.tool_calls = [{id: `call-${++asked}`, type: "function", function: {name: call.name, arguments: JSON.stringify(call.arguments)}}];
    }
    const [prompt_tokens, completion_tokens] = [tokens.length, model.tokenize(text).length];
    return {
        id: `reply-${++asked}`, object: "chat.completion", created: Math.floor(Date.now() / 1000), model: "small",
        choices: [{index: 0, message, finish_reason: offered.length ? "tool_calls" : "stop"}],
        usage: {prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens},
    };
}

let last = Promise.resolve();

const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
        last = last.then(async () => { // one sequence of tokens: one request at a time
            const [status, answer] = await complete(JSON.parse(Buffer.concat(chunks)))
                .then((found) => [200, found], (error) => [error.status ?? 500, {error: {message: error.message, code: error.code ?? "failed"}}]);
            response.writeHead(status, {"content-type": "application/json"}).end(JSON.stringify(answer));
        }).catch((error) => response.writeHead(400).end(String(error)));
    });
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
