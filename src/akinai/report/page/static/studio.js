// The script of the pages, without a framework. Pages are whole without it; it adds time, search, keys and news.
"use strict";
(() => {
  const $ = (query, root = document) => root.querySelector(query);
  const $$ = (query, root = document) => [...root.querySelectorAll(query)];
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  const plain = text => text.normalize("NFKC").toLowerCase().trim();
  const make = (tag, properties = {}, ...children) => { const element = Object.assign(document.createElement(tag), properties); element.append(...children); return element; };

  // ---- light and dark, help ------------------------------------------------------------------------------------
  const root = document.documentElement;
  const theme = { get: () => { try { return localStorage.theme; } catch { return null; } }, set: value => { try { localStorage.theme = value; } catch { /* from disk */ } } };
  const asked = new URLSearchParams(location.search).get("theme") || theme.get();
  if (asked === "light" || asked === "dark") root.dataset.theme = asked;
  const turn = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    theme.set(root.dataset.theme = dark ? "light" : "dark");
  };
  $("#theme")?.addEventListener("click", turn);
  const typing = event => event.target.matches("input:not([type=range],[type=checkbox]),textarea,select");
  function keys(handle) {
    addEventListener("keydown", event => {
      if (event.metaKey || event.ctrlKey || event.altKey || $("dialog[open]")) return;
      if (typing(event)) { if (event.key === "Escape" && event.target.id === "search") { event.target.value = ""; event.target.dispatchEvent(new Event("input")); event.target.blur(); } return; }
      if (event.key === "/" && $("#search")) { event.preventDefault(); $("#search").focus(); }
      else if (event.key === "?") $("#help").showModal();
      else if (!handle(event) && event.key === "t") turn();
    });
  }

  // ---- data in the page: JSON, or gzip in base64 for a single file ----------------------------------------------
  async function load() {
    const json = $("#data"), packed = $("#packed");
    if (json) return JSON.parse(json.textContent);
    if (!packed) return null;
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), letter => letter.charCodeAt(0));
    return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
  }

  // ---- questions to the server ------------------------------------------------------------------------------------
  const live = "live" in root.dataset;
  function notice(text) {
    $(".notice")?.remove();
    const box = make("div", { className: "notice", role: "status" }, text);
    document.body.append(box); setTimeout(() => box.remove(), 9000);
  }
  async function post(path, body, refused = notice) {
    const answer = await fetch(path, { method: "POST", ...(body ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } } : {}) });
    if (!answer.ok) refused((await answer.text()).trim());
    return answer;
  }
  function dialogOf(form, order) { // Enter and its last button send it; refused, it stays open with what was typed and says why
    const dialog = form.closest("dialog"), why = $(".why", form);
    const send = async action => {
      const { path, body, done } = order(action), answer = await post(path, body, text => { why.textContent = text; why.hidden = false; for (const input of $$("input", form)) if (input.value.trim() && text.includes(input.value.trim())) { input.setAttribute("aria-invalid", "true"); input.focus(); } });
      if (answer.ok) { dialog.close(); done?.(answer); }
    };
    form.addEventListener("submit", event => { event.preventDefault(); send("save"); });
    form.addEventListener("input", event => event.target.removeAttribute("aria-invalid"));
    form.addEventListener("click", event => {
      const button = event.target.closest("button");
      if (button?.matches("[data-close]")) dialog.close();
      if (button?.dataset.send && (!button.dataset.confirm || confirm(button.dataset.confirm))) send(button.dataset.send);
    });
    return () => { why.hidden = true; $$("[aria-invalid]", form).forEach(input => input.removeAttribute("aria-invalid")); dialog.showModal(); };
  }
  document.addEventListener("click", event => {
    const button = event.target.closest("[data-post]");
    if (button && (!button.dataset.confirm || confirm(button.dataset.confirm))) { button.disabled = true; post(button.dataset.post); }
  });

  // ---- the list of runs -----------------------------------------------------------------------------------------
  function runs() {
    const box = $("#search"), rows = () => $$("tr[data-run]");
    const filter = () => {
      const wanted = plain(box.value).split(/,\s*|\s+(?!\d)/).filter(Boolean);
      let shown = 0;
      for (const row of rows()) { row.hidden = !wanted.every(word => row.dataset.words.includes(word)); shown += !row.hidden; }
      for (const body of $$("table.runs tbody")) body.hidden = !$$("tr[data-run]", body).some(row => !row.hidden);
      for (const section of $$(".list section")) section.hidden = !$$("tbody", section).some(body => !body.hidden);
      $("#nothing").hidden = shown > 0 || !rows().length;
      try { history.replaceState(null, "", box.value ? `#${new URLSearchParams({ filter: box.value })}` : location.pathname + location.search); } catch { /* from disk */ }
    };
    box?.addEventListener("input", filter);
    box?.addEventListener("keydown", event => { if (event.key === "Enter" && ($("#parts") || location.search)) location.assign(`/?${new URLSearchParams({ find: box.value })}`); });
    const filtered = new URLSearchParams(location.hash.slice(1)).get("filter");
    if (filtered && box) { box.value = filtered; filter(); }
    const chosen = new Set(), bar = $("#chosen");
    const choose = () => {
      bar.hidden = chosen.size !== 2; $("span", bar).textContent = [...chosen].join(" · ");
      $("a", bar).href = `/compare/${[...chosen].map(encodeURIComponent).join("/")}`;
    };
    document.addEventListener("change", event => {
      if (!event.target.matches(".choose")) return;
      if (event.target.checked) { chosen.add(event.target.value); if (chosen.size > 2) { const first = [...chosen][0]; chosen.delete(first); for (const mark of $$(".choose")) if (mark.value === first) mark.checked = false; } }
      else chosen.delete(event.target.value);
      choose();
    });
    keys(event => {
      const links = $$("tr[data-run]:not([hidden]) a"), place = links.indexOf(document.activeElement);
      if (event.key === "j" || event.key === "k") links[clamp(place + (event.key === "j" ? 1 : -1), 0, links.length - 1)]?.focus();
      if (event.key === "x" && place >= 0) links[place].closest("tr").querySelector(".choose")?.click();
    });
    if (!live) return;
    const form = $("#edit-form");
    document.addEventListener("click", event => {
      const tag = event.target.closest("[data-filter]"), edit = event.target.closest("[data-edit]");
      if (tag) { box.value = tag.dataset.filter; filter(); }
      if (!edit) return;
      form.dataset.run = edit.dataset.edit; $(".lead", form).textContent = edit.dataset.edit;
      form.elements.label.value = edit.dataset.label; form.elements.tags.value = edit.dataset.tags;
      $("[data-send=delete]", form).hidden = "deleted" in edit.dataset; $("[data-send=restore]", form).hidden = !("deleted" in edit.dataset);
      show();
    });
    const show = dialogOf(form, action => ({
      path: `/runs/${encodeURIComponent(form.dataset.run)}/notes`,
      body: { save: { label: form.elements.label.value, tags: form.elements.tags.value.split(",").map(tag => tag.trim()).filter(Boolean) }, delete: { deleted: true }, restore: { deleted: false } }[action],
      done: () => { if (action !== "save") document.getElementById(`run-${form.dataset.run}`)?.remove(); },
    }));
    const news = new EventSource(`/events?since=${$("#list").dataset.version}`);
    news.addEventListener("rows", event => {
      const page = document.createElement("template");
      for (const [id, html] of Object.entries(JSON.parse(event.data))) {
        const old = document.getElementById(`run-${id}`);
        page.innerHTML = html; // made by the same template as the page: all text in it is escaped
        const fresh = $("tr", page.content);
        if (!old || !fresh) continue;
        const mark = $(".choose", fresh); if (mark) mark.checked = chosen.has(id);
        const focused = old.contains(document.activeElement);
        fresh.hidden = old.hidden; old.replaceWith(fresh);
        if (focused) $("a", fresh).focus();
      }
      document.body.dataset.news = event.lastEventId || String(performance.now());
    });
    news.addEventListener("list", async () => { // in place: a reload would lose what a reader is about to click
      const answer = await fetch(location.pathname + location.search);
      if (!answer.ok) return;
      const fresh = $("#sections", new DOMParser().parseFromString(await answer.text(), "text/html")), focused = document.activeElement.closest?.("tr[data-run]")?.id;
      if (!fresh) return;
      for (const mark of $$(".choose", fresh)) mark.checked = chosen.has(mark.value);
      $("#sections").replaceWith(fresh);
      if (box) filter();
      if (focused) document.getElementById(focused)?.querySelector("a")?.focus();
    });
    news.addEventListener("notice", event => notice(JSON.parse(event.data)));
  }

  // ---- numbers and tracks ----------------------------------------------------------------------------------------
  const money = cents => (cents < 0 ? "−" : "") + "$" + (Math.abs(cents) / 100).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const shown = (value, unit) => value === null || value === undefined || typeof value === "boolean" ? "" : unit === "cents" ? money(value) : typeof value === "number" ? value.toLocaleString("en-US", { maximumFractionDigits: 2 }).replace("-", "−") : String(value);
  const fill = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);
  function at(track, seq) { // a track is a list of [entry, value]: the value after an entry is a binary search
    let low = 0, high = track?.length ?? 0;
    while (low < high) { const mid = (low + high) >> 1; if (track[mid][0] <= seq) low = mid + 1; else high = mid; }
    return low ? track[low - 1][1] : null;
  }
  function wordsIn(element) { // its text nodes with a space between them
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), parts = [];
    while (walker.nextNode()) parts.push(walker.currentNode.data);
    return parts.join(" ").replace(/\s+/g, " ").trim();
  }

  // ---- the place: figures, machines, listings ----------------------------------------------------------------------
  class Place {
    constructor(element, data, tracks = data.tracks) {
      this.data = data; this.tracks = tracks; this.slots = [];
      const { shelves, labels, listings } = this.tracks;
      this.figures = Object.entries(labels).filter(([name]) => name !== "minute");
      const cash = this.figures.find(([name]) => name === "machine_cents");
      const parts = [];
      for (const shelf of shelves) parts.push(this.machine(shelf, shelves.length === 1 && cash?.[0]));
      this.boxes = this.figures.map(([name, { label, unit }]) => { const dd = make("dd"); parts.figures ??= make("dl", { className: "money" }); parts.figures.append(make("div", {}, make("dt", {}, label), dd)); return { dd, unit, track: this.tracks.figures[name] }; });
      this.lists = Object.entries(listings).map(([name, { title, columns, compared }]) => { const list = make(compared ? "div" : "ul", { className: `listing l-${name}` }); return { list, compared, title, heading: make("h3", {}, title), columns: Object.entries(columns), rows: Object.entries(this.tracks.rows[name] ?? {}) }; });
      element.className = "machine";
      element.replaceChildren(...parts, ...(parts.figures ? [parts.figures] : []), ...this.lists.flatMap(({ heading, list, compared }) => compared ? [list] : [heading, list]));
    }
    machine(shelf, till) {
      const box = make("section", { className: "case", ariaLabel: shelf.name || "Machine" }), sign = make("div", { className: "sign" }), window = make("div", { className: "window" });
      sign.append(shelf.name ? make("span", {}, shelf.name) : make("span", { lang: "ja" }, "いらっしゃいませ"));
      if (till) { this.till = make("output", { className: "till" }); sign.append(this.till); }
      window.style.setProperty("--columns", shelf.columns);
      shelf.keys.forEach((key, n) => {
        const capacity = shelf.capacities[n], slot = make("div", { className: "slot" }), goods = make("span", { className: "goods" }), units = make("b", { className: "units" }), price = make("b", { className: "price" });
        const ticks = Array.from({ length: capacity }, () => make("i"));
        slot.append(make("span", { className: "place" }, key.split(":").at(-1)), goods, make("span", { className: "stock" }, ...ticks), make("span", { className: "tag" }, units, price));
        slot.style.setProperty("--soldout", JSON.stringify(["売切", this.data.words.soldout].filter((word, n) => !n || word !== "売切").join(" ")));
        window.append(slot); this.slots.push({ key, slot, goods, units, price, ticks, capacity, drawn: null, track: this.tracks.slots[key] });
      });
      box.append(sign, window, make("div", { className: "tray" }));
      return box;
    }
    table(title, columns, rows) { // what is compared, under its heads: rows with most values first, the least amount of several marked
      const missing = row => row.filter(value => value === null).length, several = columns.filter(([, unit]) => unit === "cents").length > 1;
      const term = text => this.data.terms[text] ?? text, head = make("tr", {}, ...columns.map(([name, unit]) => make("th", { scope: "col", className: unit && "n" }, term(name))));
      const body = (several ? rows.toSorted((a, b) => missing(a) - missing(b) || a[0].localeCompare(b[0])) : rows).map(row => {
        const amounts = several ? row.filter((value, n) => columns[n][1] === "cents" && typeof value === "number") : [], least = Math.min(...amounts);
        return make("tr", {}, ...row.map((value, n) => {
          const unit = columns[n][1], low = unit === "cents" && value === least && least < Math.max(...amounts), text = typeof value === "string" ? (n ? term(value) : value) : shown(value, unit);
          return n ? make("td", { className: unit && `n${low ? " low" : typeof value === "string" ? " out" : ""}` }, ...(low ? [make("b", {}, "▾ ", text)] : [text])) : make("th", { scope: "row" }, text); }));
      });
      return make("table", { className: "compared" }, make("caption", {}, term(title), ...(several ? [make("small", {}, `▾ ${this.data.street.lowest}`)] : [])), make("thead", {}, head), make("tbody", {}, ...body));
    }
    draw(seq, touched = []) {
      for (const { dd, unit, track } of this.boxes) dd.textContent = shown(at(track, seq), unit);
      if (this.till) this.till.textContent = shown(at(this.tracks.figures.machine_cents, seq), "cents");
      for (const one of this.slots) {
        const held = at(one.track, seq), [product, units, price] = held ?? [], mark = touched.includes(one.key), drawn = `${product}|${units}|${price}|${mark}`;
        if (drawn === one.drawn) continue;
        one.drawn = drawn;
        one.goods.textContent = product ? this.data.goods[product] ?? product : this.data.words.empty;
        one.units.textContent = product ? units : "";
        one.price.textContent = product ? (price === null ? this.data.words.unpriced : money(price)) : "";
        one.state = !product ? "bare" : !units ? "out" : units / one.capacity <= 0.25 ? "low" : "";
        one.share = product ? units / one.capacity : 0;
        one.slot.className = `slot ${one.state}${mark ? " touched" : ""}`;
        one.ticks.forEach((tick, n) => tick.classList.toggle("on", n < (units ?? 0)));
      }
      for (const { list, compared, title, columns, rows } of this.lists) {
        const there = [];
        for (const [key, track] of rows) { const row = at(track, seq); if (row) there.push([key, row]); }
        const drawn = JSON.stringify(there);
        if (list.drawn === drawn) continue;
        list.drawn = drawn;
        if (compared) { list.replaceChildren(this.table(title, columns, there.map(([, row]) => row))); continue; }
        const bar = columns.findIndex(([, unit]) => unit === "units"), most = Math.max(1, ...there.map(([, row]) => bar < 0 ? 0 : row[bar]));
        if (bar >= 0) there.sort(([, a], [, b]) => b[bar] - a[bar]);
        list.replaceChildren(...(there.length ? there : [null]).map(found => {
          if (!found) return make("li", { className: "none" }, this.data.words.nothing);
          const row = found[1], title = columns.map(([name, unit], n) => `${name} ${shown(row[n], unit)}`).join(", ");
          if (bar >= 0) { const line = make("i"); line.style.width = `${row[bar] / most * 100}%`; return make("li", { className: "barred", title }, make("span", {}, row[0]), make("u", {}, line), make("b", {}, shown(row[bar]))); }
          const cents = columns.findIndex(([, unit]) => unit === "cents"), rest = row.map((value, n) => n && n !== cents && !["day"].includes(columns[n][1]) ? shown(value, columns[n][1]) : "").filter(Boolean);
          return make("li", { className: "told", title }, make("header", {}, make("b", {}, row[0]), make("span", {}, cents >= 0 ? shown(row[cents], "cents") : "")), make("p", {}, rest.join(" · ")));
        }));
      }
    }
  }

  class Street { // several owners side by side, with the place of the one whose entry is read, or of the one that was picked
    constructor(element, data) {
      this.data = data; this.picked = null;
      const common = make("div"), words = data.street;
      this.common = new Place(common, data);
      this.parts = data.seats.map(seat => { const box = make("section", { ariaLabel: seat }); return { box, place: new Place(box, data, data.tracks.parts[seat]) }; });
      this.buttons = data.seats.map((seat, n) => { const button = make("button", { type: "button" }, seat); button.addEventListener("click", () => { this.picked = this.picked === n ? null : n; this.drawn?.(); }); return button; });
      this.asRead = make("small");
      this.heading = make("h3", {}, words.between); this.list = make("ul", { className: "listing dealings" });
      const bar = make("div", { className: "owners", role: "group", ariaLabel: words.whose }, ...this.buttons, this.asRead);
      element.className = "street";
      element.replaceChildren(common, this.heading, this.list, bar, ...this.parts.map(({ box }) => box));
    }
    sideAt(seq) { return this.picked ?? this.data.sides[Math.max(seq, 1) - 1] ?? 0; }
    get slots() { return this.parts[this.side ?? 0].place.slots; }
    draw(seq, touched = []) {
      this.drawn = () => this.draw(seq, touched);
      const side = this.side = this.sideAt(seq), first = this.data.first, day = first.findLastIndex(entry => entry && entry <= Math.max(seq, 1)), next = first.slice(day + 1).find(Boolean) ?? Infinity;
      this.common.draw(seq);
      this.parts.forEach(({ box, place }, n) => { box.hidden = n !== side; if (n === side) place.draw(seq, this.data.sides[seq - 1] === n ? touched : []); });
      this.buttons.forEach((button, n) => { button.setAttribute("aria-pressed", String(this.picked === n)); button.classList.toggle("on", n === side); });
      this.asRead.textContent = this.picked === null ? this.data.street.acting : "";
      if (this.day === day) return;
      this.day = day;
      const today = this.data.dealings.filter(([entry]) => entry >= first[day] && entry < next);
      this.list.replaceChildren(...(today.length ? today.map(([entry, from, to, kind, text]) => make("li", { className: "told" }, make("a", { href: `#entry=${entry}` }, make("b", {}, `${from} → ${to}`), make("span", {}, kind), make("span", { className: "gist" }, text)))) : [make("li", { className: "none" }, this.data.words.nothing)]));
    }
  }
  const unitAt = (run, day) => day > run.until ? run.first.length + 1 : run.days.findLastIndex(first => first <= day) + 1; // the number of a day's unit, which is a day, a week or a part
  const placeIn = (element, data) => data.seats ? new Street(element, data) : new Place(element, data);

  // ---- a run --------------------------------------------------------------------------------------------------------
  class Run {
    constructor(data) {
      this.slider = $(".slider"); this.days = $("#days"); this.shown = []; this.seq = 1; this.day = 1; this.cursor = $(".cursor");
      this.take(data);
      $(".mini")?.classList.toggle("several", this.place.slots.length > 12); $(".mini")?.classList.toggle("owned", !!data.seats);
      this.mini = this.place.slots.map(() => $(".mini").appendChild(make("i")));
      this.slider.addEventListener("input", () => this.go(this.under(+this.slider.value), { from: "slider" }));
      $(".plot")?.addEventListener("click", event => { const box = event.currentTarget.getBoundingClientRect(); this.go(this.under((event.clientX - box.left) / box.width * +this.slider.max), { scroll: true }); });
      document.addEventListener("click", event => { const pin = event.target.closest("[data-go]"), hop = event.target.closest("[data-do]"); if (pin) this.go(+pin.dataset.go, { scroll: true }); if (hop) this.do(hop.dataset.do); });
      $("#play").addEventListener("click", () => this.play());
      keys(event => this.key(event));
      addEventListener("hashchange", () => this.fromHash());
      addEventListener("scroll", () => { if (!this.reading) { this.reading = true; requestAnimationFrame(() => { this.reading = false; this.read(); }); } }, { passive: true });
      this.search(); this.forking();
      this.fromHash(true);
      if (data.url) this.follow();
    }
    take(data) {
      this.data = data; this.last = data.last; this.finds = data.finds; this.index = null;
      const picked = this.place?.picked ?? null, focused = this.place?.buttons?.indexOf(document.activeElement) ?? -1;
      this.place = placeIn($("#place"), data); this.place.picked = picked; this.place.buttons?.[focused]?.focus();
      this.marks = new Map($$(".rail a").map(link => [+link.dataset.day, link]));
    }
    follow() { // another process plays on, or what the run is measured by is known now
      const news = new EventSource(`${this.data.url}/events?digest=${this.data.digest}&status=${this.data.status}&ghosts=${Object.keys(this.data.ghosts).length}`);
      news.addEventListener("grown", async () => {
        news.close();
        const fresh = new DOMParser().parseFromString(await (await fetch(this.data.url)).text(), "text/html"), atEnd = this.seq === this.last && this.last > 0;
        const charts = page => $$(".plot, .pins", page).length;
        if (charts(fresh) > charts(document)) return location.reload(); // its first day ended, or its first price was set: now there is another chart
        for (const part of [".facts", ".verdict", ".kpis", ".plot", ".pins", ".bars", ".dates", ".rail ol"]) { const there = $$(part, fresh); $$(part).forEach((here, n) => { if (there[n]) here.replaceChildren(...there[n].childNodes); }); }
        this.take(JSON.parse($("#data", fresh).textContent)); this.slider.max = $(".slider", fresh).max; this.cursor = $(".cursor");
        document.body.dataset.grown = this.last;
        if (atEnd) { this.shown = []; this.go(this.last, { scroll: scrollY > 0 }); } else { const day = this.shown.at(-1); if (day && day === this.dayOf(this.last)) { this.shown = []; this.show(day); } this.draw("read"); }
        this.follow();
      });
      news.addEventListener("notice", event => notice(JSON.parse(event.data)));
    }
    dayOf(seq) { const first = this.data.first; let found = 1; for (let day = first.length; day >= 1; day--) if (first[day - 1] && first[day - 1] <= seq) { found = day; break; } return found; }
    firstOf(day) { let d = day; while (d <= this.data.first.length && !this.data.first[d - 1]) d++; return this.data.first[d - 1] || this.last; }
    seqAt(value) { const begun = this.data.begun; let low = 0, high = begun.length; while (low < high) { const mid = (low + high) >> 1; if (begun[mid] <= value) low = mid + 1; else high = mid; } return clamp(low, 1, this.last); }
    under(value) { return +this.slider.step > 1 ? this.firstOf(unitAt(this.data, Math.floor(value / 1440) + 1)) : this.seqAt(value); } // where it steps by weeks, the first entry of one
    async fragment(day) { return this.data.fragments ? this.data.fragments[day - 1] ?? "" : (await fetch(`${this.data.url}/day/${this.data.days[day - 1] ?? day}`)).text(); }
    async show(day, { more = false } = {}) {
      if (this.shown.includes(day)) return;
      const ticket = this.ticket, html = await this.fragment(day); // made by the template: all text of others in it is escaped
      if (ticket !== this.ticket) return; // the reader went elsewhere meanwhile
      if (!more) { this.shown = [day]; this.days.innerHTML = html; }
      else if (day === this.shown.at(-1) + 1) { this.shown.push(day); this.days.insertAdjacentHTML("beforeend", html); while (this.shown.length > 9) { const gone = this.days.firstElementChild, tall = gone.offsetHeight; gone.remove(); this.shown.shift(); this.still = performance.now() + 200; scrollBy(0, -tall); } }
    }
    async fill() { // read on: the next days follow until the window is full, or the reader goes elsewhere
      const ticket = this.ticket;
      for (let last = this.shown.at(-1); last && this.shown.length < 9 && this.days.getBoundingClientRect().bottom < innerHeight * 1.6 && last < this.data.first.length; last = this.shown.at(-1)) {
        await this.show(last + 1, { more: true });
        if (ticket !== this.ticket || this.shown.at(-1) === last) return;
      }
    }
    async go(seq, { scroll = false, from = "" } = {}) {
      if (!this.last) return this.draw("read");
      seq = clamp(seq, 1, this.last);
      const day = this.dayOf(seq), ticket = this.ticket = (this.ticket ?? 0) + 1;
      this.still = performance.now() + 450; // a place that grows taller may scroll the page: that is no reading
      this.seq = seq; this.day = day; this.draw(from);
      if (from === "slider" || from === "play") return this.settle(seq, from === "play" ? 400 : 50);
      this.going = ticket; // no scrolling on the way counts as reading
      try {
        if (!this.shown.includes(day)) { await this.show(day); if (this.ticket !== ticket) return; await this.fill(); }
        if (this.ticket !== ticket) return;
        this.mark(); this.draw("read");
        if (scroll || from === "key") { this.reveal(); await this.fill(); if (this.ticket !== ticket) return; this.reveal(); }
      } finally { if (this.going === ticket) { this.going = 0; this.still = performance.now() + 450; } }
      clearTimeout(this.later);
      this.later = setTimeout(() => { try { history.replaceState(null, "", `#day=${this.data.days[day - 1] ?? day}&entry=${seq}`); } catch { /* from disk */ } }, 150);
    }
    settle(seq, after) { // while the slider is dragged the place answers at once, and the words follow when it rests
      clearTimeout(this.resting);
      this.resting = setTimeout(() => { if (this.seq === seq) this.go(seq, { scroll: this.days.getBoundingClientRect().top < innerHeight * 0.6 && scrollY > 0 }); }, after);
    }
    reveal() {
      const item = $(`#e${this.seq}`); if (!item) return;
      const first = this.seq === this.data.first[this.day - 1], head = first ? item.closest(".day") : item;
      this.still = performance.now() + 300;
      scrollTo({ top: head.getBoundingClientRect().top + scrollY - (first ? 92 : 116) });
    }
    mark() { $$(".item.here", this.days).forEach(item => item.classList.remove("here")); $(`#e${this.seq}`)?.classList.add("here"); }
    read() { // as you read, the place follows
      if (this.going || performance.now() < (this.still || 0)) return;
      const line = $("#now").getBoundingClientRect().bottom + 90;
      if (this.days.getBoundingClientRect().top > line) return;
      const item = $$(".item", this.days).find(found => found.getBoundingClientRect().bottom > line);
      if (item && +item.dataset.seq !== this.seq) { this.seq = +item.dataset.seq; this.day = this.dayOf(this.seq); this.draw("read"); this.mark(); }
      this.fill();
    }
    draw(from) {
      const { begun, words, worth, unit, ghosts, titles, timed } = this.data, value = begun[this.seq - 1] ?? 0;
      this.place.draw(this.last ? this.seq : 0, ($(`#e${this.seq}`)?.dataset.touched ?? "").split(" "));
      if (from !== "slider") this.slider.value = value;
      if (this.cursor) { this.cursor.hidden = false; this.cursor.style.left = value / +this.slider.max * 100 + "%"; }
      this.slider.setAttribute("aria-valuetext", fill(words.day, { n: this.day }));
      $("#now-day").textContent = fill(words.day, { n: this.day });
      $("#now-time").textContent = `${(titles[this.day - 1] ?? "").replace(/ \d{4}$/, "")}${timed ? `, ${String(Math.floor(value % 1440 / 60)).padStart(2, "0")}:${String(value % 60).padStart(2, "0")}` : ""}`;
      $("#now-entry").textContent = fill(words.entry, { n: this.last ? this.seq : 0, all: this.last });
      const side = this.place.side, own = side === undefined ? worth : this.data.money[side], days = (this.data.days[this.day - 1] ?? 1) - 1, now = days ? own[days - 1] : this.data.begin, rival = ghosts.reference;
      $("#now-worth").textContent = own.length ? `${side === undefined ? "" : `${this.data.seats[side]} `}${shown(now, unit)}` : "";
      if (rival?.length && worth.length) { const gap = days ? now - rival[Math.min(days, rival.length) - 1] : 0, box = $("#now-gap"); box.textContent = Math.abs(gap) < 100 ? words.level : fill(words.gap, { gap: (gap > 0 ? "+" : "") + (unit === "cents" ? money(gap).slice(0, -3) : shown(gap)) }); box.className = gap < -100 ? "behind" : "ahead"; }
      const slots = this.place.slots;
      this.mini?.forEach((mark, n) => { mark.className = slots[n]?.state ?? ""; mark.style.setProperty("--full", slots[n]?.share ?? 0); });
      const old = this.marks.get(this.marked); old?.classList.remove("on"); old?.removeAttribute("aria-current");
      const link = this.marks.get(this.marked = this.day);
      if (link) { link.classList.add("on"); link.setAttribute("aria-current", "true"); const rail = link.closest(".rail"), item = link.parentElement; if (rail.scrollWidth > rail.clientWidth) rail.scrollLeft = item.offsetLeft - rail.clientWidth / 2; else if (item.offsetTop < rail.scrollTop + 40 || item.offsetTop > rail.scrollTop + rail.clientHeight - 60) rail.scrollTop = item.offsetTop - rail.clientHeight / 3; }
    }
    toDay(day, more) { return this.go(this.firstOf(clamp(day, 1, this.data.first.length)), { scroll: true, ...more }); }
    play() { // a day every third of a second; the words follow when it rests
      const button = $("#play");
      clearInterval(this.playing);
      this.playing = this.playing ? 0 : setInterval(() => { if (this.day >= this.data.first.length) return this.play(); this.go(this.firstOf(this.day + 1), { from: "play" }); }, 330);
      button.setAttribute("aria-pressed", String(!!this.playing)); button.textContent = this.playing ? "▪" : "▸";
    }
    do(what) {
      if (what === "j") this.toDay(this.day + 1);
      if (what === "k") this.toDay(this.day - 1);
      if (what === "n") this.go(this.finds.find(seq => seq > this.seq) ?? this.finds[0] ?? this.seq, { from: "key" });
      if (what === "p") this.go(this.finds.findLast(seq => seq < this.seq) ?? this.finds.at(-1) ?? this.seq, { from: "key" });
    }
    key(event) {
      if ("jknp".includes(event.key)) this.do(event.key);
      else if (event.target === this.slider && event.key.startsWith("Arrow")) return;
      else if (event.key === "ArrowRight") { event.preventDefault(); this.go(this.seq + 1, { from: "key" }); }
      else if (event.key === "ArrowLeft") { event.preventDefault(); this.go(this.seq - 1, { from: "key" }); }
      else if (event.key === " " && !event.target.closest("button,summary,a,input")) { event.preventDefault(); this.play(); }
    }
    fromHash(begin) {
      const words = new URLSearchParams(location.hash.slice(1)), entry = +words.get("entry"), day = +words.get("day");
      if (entry) this.go(entry, { scroll: true });
      else if (day) this.toDay(unitAt(this.data, day));
      else if (begin) this.go(1);
    }
    search() { // the words of every day, read out of its fragment once, when first asked for
      const box = $("#search");
      box.addEventListener("input", () => { clearTimeout(this.typing); this.typing = setTimeout(() => this.found(box.value), 80); });
      box.addEventListener("keydown", event => { if (event.key === "Enter") $("#results a")?.click(); });
    }
    async words() {
      if (this.index) return this.index;
      const index = [], page = document.createElement("template");
      for (let day = 1; day <= this.data.first.length; day++) {
        page.innerHTML = await this.fragment(day);
        for (const item of $$(".item", page.content)) { $$(".call", item).forEach(call => call.remove()); const text = wordsIn($(".body", item)); index.push([+item.dataset.seq, day, text, plain(text)]); }
      }
      return this.index = index;
    }
    async found(text) {
      const wanted = plain(text), box = $("#results");
      box.hidden = !wanted; this.days.hidden = !!wanted;
      if (!wanted) return;
      if ($(".panes").getBoundingClientRect().top < 60) scrollTo({ top: $(".panes").offsetTop - 100 });
      const hits = (await this.words()).filter(hit => hit[3].includes(wanted));
      box.replaceChildren(make("p", { className: "count", role: "status" }, fill(this.data.words.found, { n: hits.length, text: text.trim() })), ...hits.slice(0, 200).map(([seq, day, said, folded]) => {
        const start = Math.max(0, folded.length === said.length ? folded.indexOf(wanted) : said.toLowerCase().indexOf(wanted)), from = Math.max(0, start - 60), hit = said.slice(start, start + wanted.length);
        const link = make("a", { href: `#day=${this.data.days[day - 1]}&entry=${seq}` }, make("b", {}, fill(this.data.words.day, { n: day })), (from ? "…" : "") + said.slice(from, start), make(plain(hit) === wanted ? "mark" : "span", {}, hit), said.slice(start + wanted.length, start + 130));
        link.addEventListener("click", () => { $("#search").value = ""; this.found(""); this.go(seq, { scroll: true }); });
        return link;
      }));
    }
    forking() {
      const form = $("#fork-form"); if (!form) return;
      const values = () => Object.fromEntries(new FormData(form));
      const show = dialogOf(form, () => ({ path: `${this.data.url}/fork`, body: { after: this.seq, agent: values().agent.trim(), model: values().model.trim(), dollars: +values().dollars || 0 }, done: async answer => location.assign((await answer.json()).page) }));
      $("#fork").addEventListener("click", () => { $(".lead", form).textContent = `${this.data.id}, ${fill(this.data.words.entry, { n: this.seq, all: this.last })}`; show(); });
    }
  }

  // ---- a market: choose a participant, see its conversations -------------------------------------------------------
  function market() {
    const talks = $$(".talk"), people = $$("[data-agent]"), title = $("#chosen-talks");
    let chosen = "";
    const choose = agent => {
      chosen = agent;
      let count = 0;
      for (const talk of talks) { const there = !agent || talk.dataset.a === agent || talk.dataset.b === agent; talk.hidden = !there; count += there; }
      for (const person of people) {
        const same = person.dataset.agent === agent, met = talks.some(talk => !talk.hidden && [talk.dataset.a, talk.dataset.b].includes(person.dataset.agent));
        person.classList.toggle("on", same); person.classList.toggle("off", !!agent && !same && !met);
      }
      title.textContent = agent ? `${count} ${title.dataset.with} ${people.find(person => person.dataset.agent === agent)?.dataset.name}` : title.dataset.all;
      try { history.replaceState(null, "", agent ? `#agent=${encodeURIComponent(agent)}` : "#"); } catch { /* from disk */ }
    };
    for (const person of people) person.addEventListener("click", event => { event.preventDefault(); choose(chosen === person.dataset.agent ? "" : person.dataset.agent); });
    keys(event => {
      if (event.key === "Escape") choose("");
      if (event.key === "j" || event.key === "k") { const ids = people.map(person => person.dataset.agent); if (ids.length) choose(ids[clamp(ids.indexOf(chosen) + (event.key === "j" ? 1 : -1), 0, ids.length - 1)]); }
    });
    choose(new URLSearchParams(location.hash.slice(1)).get("agent") || "");
  }

  // ---- two runs in step ---------------------------------------------------------------------------------------------
  class Pair {
    constructor(data) {
      this.data = data; this.slider = $(".slider"); this.cursor = $(".cursor");
      this.sides = data.runs.map((run, n) => ({ run, place: placeIn($(`#place${n}`), run), box: $(`#side${n}`) }));
      this.slider.addEventListener("input", () => this.go(+this.slider.value));
      document.addEventListener("click", event => { const hop = event.target.closest("[data-do]"); if (hop) this.go(this.day + (hop.dataset.do === "j" ? 1 : -1) * data.step); });
      keys(event => { if (event.key === "j" || event.key === "k") this.go(this.day + (event.key === "j" ? 1 : -1) * data.step); });
      this.go(+new URLSearchParams(location.hash.slice(1)).get("day") || data.begin);
    }
    async go(day) {
      const { step, count } = this.data;
      day = clamp(day, 1, this.data.days); this.day = day -= (day - 1) % step;
      this.slider.value = day;
      if (this.cursor) { this.cursor.hidden = false; this.cursor.style.left = day / this.data.days * 100 + "%"; }
      const { words, titles, unit } = this.data.runs[0];
      $("#now-day").textContent = fill(words.day, { n: Math.floor((day - 1) / count) + 1 }); $("#now-time").textContent = titles[unitAt(this.data.runs[0], day) - 1] ?? "";
      const worths = this.sides.map(({ run, place, box }, n) => {
        const end = Math.min(day + step - 1, run.until), next = run.first.slice(unitAt(run, end)).find(Boolean), value = run.worth[Math.min(day + step - 1, run.worth.length) - 1];
        place.draw(next ? next - 1 : run.last);
        $(`#worth${n}`).textContent = value === undefined ? "" : shown(value, unit);
        this.words(run, box, day);
        return value;
      });
      const gap = worths[0] - worths[1]; $("#gap").textContent = Number.isFinite(gap) ? (gap > 0 ? "+" : "") + shown(gap, unit) : "";
      try { history.replaceState(null, "", `#day=${day}`); } catch { /* from disk */ }
    }
    async words(run, box, day) {
      const html = run.fragments ? run.fragments[unitAt(run, day) - 1] ?? "" : await (await fetch(`${run.url}/day/${day}`)).text(); // made by the template
      if (this.day === day) { box.innerHTML = html; for (const item of $$("[id]", box)) item.removeAttribute("id"); for (const link of $$("a.time", box)) link.href = run.url + new URL(link.href).hash; }
    }
  }

  // ---- a person plays ------------------------------------------------------------------------------------------------
  const own = (box, query) => $$(query, box).filter(found => found.parentElement.closest(".fields") === box);
  const namesOf = field => field.dataset.field.split(" ");
  const rowsIn = field => $$(":scope > .rows > [data-row]", field);
  const amongst = (input, test) => [...(input.list?.options ?? [])].find(test);
  const valueIn = input => { // the beginning of a name is enough where one alone has it
    const typed = plain(input.value), begun = typed ? [...(input.list?.options ?? [])].filter(option => plain(option.value).startsWith(typed)) : [];
    return (begun.find(option => plain(option.value) === typed) ?? (begun.length === 1 ? begun[0] : null))?.dataset.value ?? input.value.trim();
  };
  const write = (input, value) => { input.value = amongst(input, option => option.dataset.value === String(value))?.value ?? value; };
  function valuesOf(box) { // the arguments that a form holds; what is empty is left out
    const values = {};
    for (const field of own(box, ".field")) {
      const value = valueOf(field);
      if (value === undefined) continue;
      if (field.dataset.kind === "pick") Object.assign(values, value); else values[field.dataset.field] = value;
    }
    return values;
  }
  const filledIn = row => Object.keys(row).length ? row : undefined;
  const changedRows = field => $$(":scope > .filled", field).map(row => [row, $("input", row)]).filter(([, input]) => input.value !== "" && (input.dataset.was === "" || +input.value !== +input.dataset.was)).map(([row, input]) => [row, { ...JSON.parse(row.dataset.fixed), [input.dataset.name]: +input.value }]);
  function sentRows(field) { // the rows that are sent, in their order, each with its value
    return [...changedRows(field), ...rowsIn(field).map(row => [row, valuesOf(row)]).filter(([, values]) => filledIn(values))];
  }
  function valueOf(field) {
    const kind = field.dataset.kind, input = $("input,textarea,select", field);
    if (kind === "flag") return input.checked;
    if (kind === "group") return filledIn(valuesOf($(".fields", field)));
    if (kind === "variant") { const type = $(".kind", field).value; return { type, ...valuesOf($$(".variant", field).find(part => part.dataset.variant === type)) }; }
    if (kind === "list") { const lines = rowsIn(field).map(row => valueIn($(".key", row))).filter(Boolean); return lines.length ? lines : undefined; }
    if (kind === "table") return filledIn(Object.assign({}, ...changedRows(field).map(([, value]) => value), Object.fromEntries(rowsIn(field).map(row => [valueIn($(".key", row)), $(".value", row).value]).filter(([key, value]) => key || value).map(([key, value]) => [key, value === "" ? "" : +value]))));
    if (kind === "rows") { const rows = sentRows(field).map(([, values]) => values); return rows.length ? rows : undefined; }
    const text = input.value;
    if (text === "") return undefined;
    if (kind === "number") return +text;
    if (kind === "pick") return JSON.parse(text);
    if (kind === "lines") return text.split("\n").map(line => line.trim()).filter(Boolean);
    if (kind === "json") try { return JSON.parse(text); } catch { return text; }
    return kind === "text" ? valueIn(input) : text;
  }
  function addRow(field) { // a further row, as empty as a new form's
    const rows = $(":scope > .rows", field);
    if (rows.hidden) rows.hidden = false;
    else { const row = rows.lastElementChild.cloneNode(true); $$("[data-row] ~ [data-row]", row).forEach(more => more.remove()); $$("input,select,textarea", row).forEach(input => { input.value = ""; input.removeAttribute("aria-invalid"); }); rows.append(row); }
    return rows.lastElementChild;
  }
  function fillIn(box, values) { // arguments into the fields of a form, as a draft has them, or as they were typed
    for (const field of own(box, ".field")) {
      const names = namesOf(field), value = values[names[0]], kind = field.dataset.kind, input = $("input,textarea,select", field);
      if (value === undefined || value === null) continue;
      if (kind === "variant") { $(".kind", field).value = value.type; $(".kind", field).dispatchEvent(new Event("change", { bubbles: true })); fillIn($$(".variant", field).find(part => part.dataset.variant === value.type), value); }
      else if (kind === "group") fillIn($(".fields", field), value);
      else if (kind === "flag") input.checked = value;
      else if (kind === "pick") input.value = [...input.options].find(option => option.value && names.every(name => JSON.parse(option.value)[name] === values[name]))?.value ?? "";
      else if (kind === "table") { let n = 0; for (const [key, number] of Object.entries(value)) intoRow(field, { [key]: number }, () => rowsIn(field)[n++] ?? addRow(field)); }
      else if (kind === "list") value.forEach((line, n) => write($(".key", rowsIn(field)[n] ?? addRow(field)), line));
      else if (kind === "rows") { let n = 0; for (const row of value) intoRow(field, row, () => rowsIn(field)[n++] ?? addRow(field)); }
      else if (kind === "lines") input.value = value.join("\n");
      else if (kind === "json") input.value = JSON.stringify(value);
      else write(input, value);
    }
  }
  function intoRow(field, row, next) { // into the row that stands there already, else into a further one
    const there = $$(":scope > .filled", field).find(found => $("input", found).dataset.name in row && Object.entries(JSON.parse(found.dataset.fixed)).every(([name, value]) => row[name] === value));
    if (there) { const input = $("input", there); input.value = row[input.dataset.name]; return; }
    const fresh = next(), [[key, number]] = Object.entries(row); fresh.parentElement.hidden = false;
    if (field.dataset.kind === "table") { write($(".key", fresh), key); $(".value", fresh).value = number; } else fillIn(fresh, row);
  }
  function markAt(box, [name, ...further]) { // the inputs at a path of the arguments
    const field = own(box, ".field").find(found => namesOf(found).includes(name)), kind = field?.dataset.kind;
    if (!field) return [];
    if (further.length && kind === "rows") { const row = sentRows(field)[further[0]]?.[0]; return !row ? [] : further.length > 1 && row.matches("[data-row]") ? markAt(row, further.slice(1)) : $$("input,select", row); }
    if (further.length && kind === "table") return $$("input", $(`:scope > .filled:has([data-name="${CSS.escape(further[0])}"])`, field) ?? rowsIn(field).find(row => valueIn($(".key", row)) === further[0]) ?? field);
    if (further.length && kind === "list") return $$("input", rowsIn(field)[further[0]] ?? field);
    if (further.length && kind === "group") return markAt($(".fields", field), further);
    if (further.length && kind === "variant") return markAt($(".variant:not([hidden])", field), further.slice(-1));
    return $$("input,select,textarea", field).slice(0, kind === "rows" ? 1 : undefined);
  }
  class Play {
    constructor(data) {
      this.data = data; this.forms = $("#play-forms"); this.key = `akinai-play-${data.id}`; this.typed = {};
      try { ({ shown: this.shown = "", typed: this.typed = {} } = JSON.parse(localStorage[this.key] ?? "{}")); } catch { /* nothing was kept */ }
      this.take(data.parts);
      document.addEventListener("click", event => this.click(event));
      this.forms.addEventListener("submit", event => { event.preventDefault(); this.act(event.target.dataset.verb, valuesOf($(".fields", event.target)), event.target); });
      this.forms.addEventListener("input", event => { event.target.removeAttribute("aria-invalid"); this.chooseOnly(event.target); this.keep(event.target.form); });
      this.forms.addEventListener("change", event => { if (event.target.matches(".kind")) this.choose(event.target); this.keep(event.target.form); });
      this.forms.addEventListener("keydown", event => { if (event.key === "Enter" && event.target.matches(event.ctrlKey || event.metaKey ? "textarea,select" : "select")) { event.preventDefault(); event.target.form.requestSubmit(); } });
      addEventListener("keydown", event => { if (event.key === "Escape" && this.shown && !$("dialog[open]")) { const button = $(`[data-form="${this.shown}"]`); this.open(""); button?.focus(); } });
      keys(event => this.jump(event));
      if (!data.parts.ghosts) this.later();
    }
    jump(event) { // a letter leads to the next action that begins with it
      const buttons = $$(".actions button").filter(button => button.offsetParent && plain(button.textContent).startsWith(plain(event.key)));
      if (event.key.length !== 1 || event.key === " " || !buttons.length) return false;
      buttons[(buttons.indexOf(document.activeElement) + 1) % buttons.length].focus();
      return true;
    }
    async later() { // idle and reference are being played
      const answer = await fetch(`${this.data.url}/now`).catch(() => null);
      if (answer?.ok) { const parts = await answer.json(); if (parts.seq === this.seq) $("#play-status").innerHTML = parts.markup.status; }
    }
    take(parts) { // its markup was made by templates: all text of others in it is escaped
      this.seq = parts.seq;
      if (parts.markup) {
        const open = new Set($$("details[open][data-key]").map(found => found.dataset.key));
        for (const [name, html] of Object.entries(parts.markup)) $(`#play-${name}`).innerHTML = html;
        for (const found of $$("details[data-key]")) if (open.has(found.dataset.key)) found.open = true;
      }
      if (parts.tracks) { this.place = new Place($("#place"), { tracks: parts.tracks, goods: parts.goods, words: this.data.words }); this.place.draw(parts.seq); }
      else $(".table").classList.add("alone");
      for (const row of $$("[data-spare]")) row.hidden = true;
      for (const kind of $$(".kind", this.forms)) this.choose(kind);
      for (const form of $$("form.sheet")) if (this.typed[form.dataset.verb]) fillIn($(".fields", form), this.typed[form.dataset.verb]);
      this.open(this.shown);
    }
    chooseOnly(typed) { // in a row in which something is typed, what there is one of is chosen
      for (const select of $$("[data-only]", typed.form)) if (select !== typed && !select.value && select.closest("[data-row]")?.contains(typed)) select.selectedIndex = 1;
    }
    choose(kind) { // a field that is not shown asks for nothing
      for (const part of $$(":scope > .variant", kind.parentElement)) {
        part.hidden = part.dataset.variant !== kind.value;
        for (const input of $$("input,textarea,select", part)) input.disabled = part.hidden;
      }
    }
    keep(form) {
      if (form) this.typed[form.dataset.verb] = valuesOf($(".fields", form));
      try { localStorage[this.key] = JSON.stringify({ shown: this.shown, typed: this.typed }); } catch { /* nothing is kept */ }
    }
    open(verb) {
      this.shown = $(`#form-${verb}`) ? verb : "";
      for (const form of $$("form.sheet")) form.hidden = form.dataset.verb !== this.shown;
      for (const button of $$("[data-form]")) button.setAttribute("aria-expanded", String(button.dataset.form === this.shown));
      this.keep();
    }
    focus(form) { ($$("input,textarea,select", $(".fields", form)).find(input => input.offsetParent && input.value === "" && input.required) ?? $$("input,textarea,select", form).find(input => input.offsetParent))?.focus(); }
    click(event) {
      const button = event.target.closest("button"); if (!button || this.busy) return;
      if (button.dataset.act) this.act(button.dataset.act, {});
      else if (button.dataset.form) { this.open(this.shown === button.dataset.form ? "" : button.dataset.form); if (this.shown) this.focus($(`#form-${this.shown}`)); }
      else if (button.dataset.draft) this.draft(button.dataset.verb, JSON.parse(button.dataset.draft), "final" in button.dataset);
      else if (button.matches(".add")) $("input,select", addRow(button.parentElement))?.focus();
      else if (button.matches(".drop")) { const row = button.closest("[data-row]"), rows = row.parentElement, form = button.form; if (rows.children.length > 1) row.remove(); else for (const input of $$("input,select", row)) input.value = ""; $("input,select", rows.lastElementChild)?.focus(); this.keep(form); }
    }
    draft(verb, values, final) {
      if (final) { if (confirm(this.data.words.final)) this.act(verb, values); return; }
      const form = $(`#form-${verb}`);
      if (!form || !$$("[required]", form).some(input => !input.closest("[hidden]:not(form)")) && verb !== "send_message") return this.act(verb, values);
      fillIn($(".fields", form), values); this.open(verb); this.keep(form); this.focus(form);
    }
    refuse(form, { why, marks }) { // all that was typed stays; what is wrong is marked
      $(".why", form).textContent = why; $(".why", form).hidden = false;
      $$("[aria-invalid]", form).forEach(input => input.removeAttribute("aria-invalid"));
      const inputs = (marks ?? []).flatMap(path => markAt($(".fields", form), path));
      inputs.forEach(input => input.setAttribute("aria-invalid", "true"));
      (inputs.find(input => input.offsetParent) ?? $("input,textarea,select", form))?.focus();
      $(".why", form).scrollIntoView({ block: "nearest" });
      $("#play-answer .answer .pre")?.remove(); // the form says it
    }
    async act(verb, values, form) {
      if (this.busy) return;
      this.busy = true; this.forms.setAttribute("aria-busy", "true");
      const from = document.activeElement?.closest?.("[data-draft]") ? null : verb;
      try {
        const answer = await post(`${this.data.url}/act`, { action: verb, arguments: values });
        if (!answer.ok) return;
        const parts = await answer.json();
        if (form && parts.refused) { if (parts.markup) { this.take(parts); document.body.dataset.seq = parts.seq; $(`#form-${verb}`)?.replaceWith(form); } return this.refuse(form, parts); }
        if (form) { delete this.typed[verb]; this.shown = ""; }
        this.take(parts);
        document.body.dataset.seq = parts.seq;
        const place = $("#play-answer").getBoundingClientRect();
        if (place.top > innerHeight * 0.75 || place.top < 60) $("#play-answer").scrollIntoView({ block: "center" });
        const button = $(`[data-act="${from}"], [data-form="${from}"]`), box = button?.getBoundingClientRect();
        (box && box.top >= 0 && box.bottom <= innerHeight ? button : $("#play-answer")).focus({ preventScroll: true }); // never out of sight
        if (!parts.ghosts && parts.seq === 1) this.later();
      } catch { notice(this.data.words.lost); }
      finally { this.busy = false; this.forms.removeAttribute("aria-busy"); }
    }
  }
  function newplay() {
    for (const form of $$(".newrun")) form.addEventListener("submit", async event => {
      event.preventDefault();
      const { preset, seed, days } = Object.fromEntries(new FormData(form));
      const answer = await post("/play", { world: form.dataset.world, preset, seed: +seed, ...(days ? { days: +days } : {}) });
      if (answer.ok) location.assign((await answer.json()).page);
    });
    keys(() => {});
  }

  function playbook() {
    const box = $("#search");
    box.addEventListener("input", () => {
      const wanted = plain(box.value).split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const bullet of $$(".bullet")) { const words = plain(bullet.textContent); bullet.hidden = !wanted.every(word => words.includes(word)); shown += !bullet.hidden; }
      for (const section of $$(".bullets section")) section.hidden = !!wanted.length && !$$(".bullet", section).some(bullet => !bullet.hidden);
      $("#nothing").hidden = shown > 0 || !wanted.length;
    });
    keys(() => {});
  }

  const pages = { plain: () => { keys(() => {}); if ($(".unread")) setTimeout(() => location.reload(), 1500); }, playbook, runs, market, newplay, play: data => { window.studio = new Play(data); }, compare: data => { window.studio = new Pair(data); }, run: data => { window.studio = new Run(data); } };
  const page = document.body.className;
  Promise.resolve(load()).then(data => { pages[page.split(" ")[0]]?.(data); document.body.dataset.ready = Math.round(performance.now()); });
})();
