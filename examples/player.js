// A player in another language: one JSON line in, one JSON line out.
//   akinai run vending --agent "stdio:node examples/player.js" --days 30
// It sells cola. It orders two cases whenever little is left, and visits the machine every third day.
const lines = require("node:readline").createInterface({ input: process.stdin });

let address, account, delivery, stored = 0, days = -1;
const todo = [];

function plan(seen) {
  days += 1;
  if (days === 0) {
    delivery = /^Delivery address: (.+)$/m.exec(seen.view)[1];
    account = /^Account: (.+)$/m.exec(seen.view)[1];
    return [{ action: "SEARCH_WEB", query: "cola wholesale supplier" }];
  }
  address ??= /[\w.]+@[\w-]+\.\w+/.exec(seen.heard.text)[0];
  if (days % 3 !== 1) return [{ action: "ADVANCE_DAY" }];
  const body = `Please send 48 units of cola.\nDelivery address: ${delivery}\nPlease charge account ${account}.`;
  const order = { action: "SEND_EMAIL", to: address, subject: "Order", body };
  const visit = [0, 1, 2].map((column) => ({ action: "RESTOCK_SLOT", row: 0, column, product_id: "cola", quantity: 8 }));
  const price = { action: "SET_PRICE", row: 0, column: 0, price: 2.25 };
  const last = [price, { action: "COLLECT_CASH" }, { action: "LIST_STORAGE" }, { action: "ADVANCE_DAY" }];
  return [...(stored < 24 ? [order] : []), ...visit, ...last];
}

lines.on("line", (line) => {
  const seen = JSON.parse(line);
  const units = seen.heard && /\(cola\): (\d+) units/.exec(seen.heard.text);
  if (units) stored = Number(units[1]);
  if (todo.length === 0) todo.push(...plan(seen));
  const action = todo.shift();
  if (!seen.recorded) console.log(JSON.stringify(action));
});
