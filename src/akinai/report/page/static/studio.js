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
      if (typing(event)) { if (event.key === "Escape") { event.target.value = ""; event.target.dispatchEvent(new Event("input")); event.target.blur(); } return; }
      if (event.key === "/" && $("#search")) { event.preventDefault(); $("#search").focus(); }
      else if (event.key === "?") $("#help").showModal();
      else if (event.key === "t") turn();
      else handle(event);
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
  async function post(path, body) {
    const answer = await fetch(path, { method: "POST", ...(body ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } } : {}) });
    if (!answer.ok) notice((await answer.text()).trim());
    return answer;
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
    news.addEventListener("list", () => { if (!chosen.size && document.activeElement !== box) location.reload(); });
    news.addEventListener("notice", event => notice(JSON.parse(event.data)));
  }

  const pages = { runs };
  const page = document.body.className;
  Promise.resolve(load()).then(data => { pages[page]?.(data); document.body.dataset.ready = Math.round(performance.now()); });
})();
