// A small language model behind the wire of OpenAI's chat completions, on loopback: node server.mjs MODEL.gguf [--port N] ...
// A reply to a request with tools is decoded under a grammar that is made of their schemas, so it is always a tool call that fits.
// With --qwen the prompt shows tools with all their parameters, in the form with which Qwen 2.5 was trained; with --free there is no
// grammar either, and the model writes what it likes.
import {createServer} from "node:http";
import {parseArgs} from "node:util";
import {getLlama, LlamaCompletion} from "node-llama-cpp";

const {values, positionals: [modelPath]} = parseArgs({
    allowPositionals: true,
    options: {
        port: {type: "string", default: "0"},
        tools: {type: "string", default: "8"}, // so many are offered at most
        text: {type: "string", default: "60"}, // characters of a text in an argument
        reply: {type: "string", default: "400"}, // tokens
        context: {type: "string", default: "8192"}, // tokens of a conversation
        conversations: {type: "string", default: "1"}, // whose prompts are kept, so that only what is new in them is read
        threads: {type: "string", default: "1"}, // more fall behind each other on a machine that is busy
        qwen: {type: "boolean", default: false},
        free: {type: "boolean", default: false},
    },
});
const [MOST_TOOLS, MOST_TEXT, MOST_REPLY, CONTEXT] = [values.tools, values.text, values.reply, values.context].map(Number);
const IN_FORM = values.qwen || values.free;
const MOST_ITEMS = MOST_TEXT > 60 ? 12 : 2;

const llama = await getLlama({gpu: false, build: "never", logLevel: "error"});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({contextSize: CONTEXT, sequences: Number(values.conversations), threads: Number(values.threads)});
const completions = Array.from({length: context.totalSequences}, () => {
    const contextSequence = context.getSequence();
    return {contextSequence, completion: new LlamaCompletion({contextSequence})};
});

/** What completes a prompt: that which has read at least half of it, or else that which was heard of longest ago. */
function completionOf(tokens) {
    const known = completions.map(({contextSequence: {contextTokens: read}}) => {
        const end = tokens.findIndex((token, place) => token !== read[place]);
        return end < 0 ? tokens.length : end;
    });
    const most = Math.max(...known);
    const [taken] = completions.splice(2 * most >= tokens.length ? known.indexOf(most) : 0, 1);
    completions.push(taken);
    return taken.completion;
}

/** The schema of a tool's argument as the grammar takes it: without references and ranges, its texts and lists short. */
function grammarSchema(schema, defs) {
    if (schema.$ref) return grammarSchema(defs[schema.$ref.split("/").at(-1)], defs);
    const among = schema.oneOf ?? schema.anyOf;
    if (among) return {oneOf: among.map((inner) => grammarSchema(inner, defs))};
    if ("const" in schema) return {const: schema.const};
    if (schema.enum) return {enum: schema.enum};
    if (schema.type === "object" || schema.properties) {
        const properties = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, grammarSchema(inner, defs)]);
        if (properties.length || typeof schema.additionalProperties !== "object") return {type: "object", properties: Object.fromEntries(properties)};
        return {type: "object", additionalProperties: grammarSchema(schema.additionalProperties, defs), minProperties: schema.minProperties ?? 0, maxProperties: MOST_ITEMS};
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

/** A prompt with tools, calls and their results as Qwen 2.5 was trained on them. */
function qwenPromptOf(messages, tools) {
    const offered = tools.map((tool) => JSON.stringify({type: "function", function: tool}));
    const how = tools.length ? `\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>\n${offered.join("\n")}\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>` : "";
    const parts = messages.map((message, place) => {
        const calls = (message.tool_calls ?? []).map((call) => `<tool_call>\n{"name": "${call.function.name}", "arguments": ${call.function.arguments}}\n</tool_call>`);
        const said = message.role === "tool" ? `<tool_response>\n${textOf(message.content)}\n</tool_response>` : textOf(message.content);
        return `<|im_start|>${message.role === "tool" ? "user" : message.role}\n${[said, ...calls].filter(Boolean).join("\n")}${place ? "" : how}<|im_end|>\n`;
    });
    return `${parts.join("")}<|im_start|>assistant\n${tools.length && !values.free ? "<tool_call>\n" : ""}`;
}

/** The message in a text that the model wrote freely: what stands in its tags for calls is a call where it is one, as servers do. */
function messageIn(text, offered) {
    const calls = [];
    const content = !offered.length ? text : text.replace(/<tool_call>\s*(\{[^]*?\})\s*(?:<\/tool_call>|$)/g, (whole, inner) => {
        try {
            const {name, arguments: given} = JSON.parse(inner);
            if (typeof name !== "string") return whole;
            calls.push({id: `call-${++asked}`, type: "function", function: {name, arguments: JSON.stringify(given ?? {})}});
            return "";
        } catch {
            return whole;
        }
    }).trim();
    return {role: "assistant", content: content || null, ...(calls.length ? {tool_calls: calls} : {})};
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
    const offered = spread(tools, MOST_TOOLS).map((tool) => tool.function);
    const shapes = offered.map(({name, parameters = {}}) => ({type: "object", properties: {name: {const: name}, arguments: grammarSchema({type: "object", ...parameters}, parameters.$defs ?? {})}}));
    const wish = values.free ? null : shapes.length ? {oneOf: shapes} : format?.json_schema ? grammarSchema(format.json_schema.schema, format.json_schema.schema.$defs ?? {}) : null;
    const tokens = model.tokenize((IN_FORM ? qwenPromptOf : promptOf)(messages, offered), true);
    if (tokens.length + MOST_REPLY > CONTEXT) throw {status: 400, code: "context_length_exceeded", message: `the prompt has ${tokens.length} tokens; the context holds ${CONTEXT}`};
    const maxTokens = wish ? MOST_REPLY : Math.min(limit ?? most ?? MOST_REPLY, MOST_REPLY);
    const {response: text, metadata: {stopReason}} = await completionOf(tokens).generateCompletionWithMeta(tokens, {maxTokens, temperature: temperature ?? 0.7, seed: seed ?? ++asked, ...(wish ? {grammar: await grammarOf(wish)} : {customStopTriggers: ["<|im_end|>"]})});
    const cut = stopReason === "maxTokens";
    let message = messageIn(text, offered);
    if (offered.length && !values.free && !cut) {
        const call = JSON.parse(text);
        message = {role: "assistant", content: null, tool_calls: [{id: `call-${++asked}`, type: "function", function: {name: call.name, arguments: JSON.stringify(call.arguments)}}]};
    }
    const [prompt_tokens, completion_tokens] = [tokens.length, model.tokenize(text).length];
    return {
        id: `reply-${++asked}`, object: "chat.completion", created: Math.floor(Date.now() / 1000), model: "small",
        choices: [{index: 0, message, finish_reason: cut ? "length" : message.tool_calls ? "tool_calls" : "stop"}],
        usage: {prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens},
    };
}

let last = Promise.resolve();

const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
        last = last.then(async () => { // one request at a time
            const [status, answer] = await complete(JSON.parse(Buffer.concat(chunks)))
                .then((found) => [200, found], (error) => [error.status ?? 500, {error: {message: error.message, code: error.code ?? "failed"}}]);
            response.writeHead(status, {"content-type": "application/json"}).end(JSON.stringify(answer));
        }).catch((error) => response.writeHead(400).end(String(error)));
    });
});
server.listen(Number(values.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
