// Narrows the figures to a part of the run, and shows one state and one decision at a time. Without it the page is
// complete: it tells of the whole run, and every state can be opened.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // --- figures as words and drawings: as wording.py and charts.py make them -----------------------------
  const MINUS = "\u2212", WIDTH = 160, MARGIN = 6, TALLEST = 24, LEAST = 1;
  const grouped = (value, decimals) => {
    if (Math.abs(value) >= 1e15) return value.toPrecision(3);
    const [whole, part] = value.toFixed(decimals).split(".");
    const text = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return part ? `${text}.${part}` : text;
  };
  const bytes = (value) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let step = 0;
    while (Math.abs(value) >= 1024 && step < units.length - 1) {
      value /= 1024;
      step += 1;
    }
    return `${Number(value.toPrecision(4))} ${units[step]}`;
  };
  const figure = (value, unit) => {
    if (value === null || value === undefined) return "–";
    if (unit === "share") return `${(value * 100).toFixed(1)} %`;
    if (unit === "bytes") return bytes(value);
    if (Number.isInteger(value)) return grouped(value, 0);
    return Math.abs(value) < 0.01 ? String(Number(value.toPrecision(2))) : grouped(value, 2);
  };
  const mean = (value, unit) =>
    unit === "share" || unit === "bytes" || !Number.isInteger(value) ? figure(value, unit) : grouped(value, 2);
  const signed = (value, unit) =>
    value ? (value > 0 ? "+" : MINUS) + mean(Math.abs(value), unit) : mean(value, unit);
  const place = (value, low, high) =>
    (MARGIN + (high > low ? (value - low) / (high - low) : 0) * (WIDTH - 2 * MARGIN)).toFixed(1);
  const binWords = (bins, at, unit) => {
    const low = bins.start + at * bins.width;
    if (at === bins.number - 1 && bins.number > 1) return `${figure(low, unit)} or more`;
    const high = bins.whole ? low + bins.width - 1 : low + bins.width;
    return high === low ? figure(low, unit) : `${figure(low, unit)} to ${figure(high, unit)}`;
  };
  const bars = (bins, counts) => {
    const step = (WIDTH - 2 * MARGIN) / bins.number, tallest = Math.max(...counts);
    const bar = Math.max(step - (step > 4 ? 1 : 0.2), 0.5).toFixed(1);
    const one = (count, at) =>
      count ? `M${(MARGIN + at * step).toFixed(1)} ${TALLEST}h${bar}v-${Math.max(TALLEST * Math.sqrt(count / tallest), LEAST).toFixed(1)}h-${bar}z` : "";
    return counts.map(one).join("");
  };
  const mostOften = (bins, counts, total, unit) => {
    const often = [...counts.keys()].sort((a, b) => counts[b] - counts[a] || a - b).slice(0, 3).sort((a, b) => a - b);
    const words = (at) => `${binWords(bins, at, unit)} in ${((100 * counts[at]) / total).toFixed(0)} %`;
    return "Most often: " + often.filter((at) => counts[at]).map(words).join(", ");
  };
  // What so large a share of the figures is at most, as closely as the bins tell.
  const quantile = (bins, counts, total, share, unit) => {
    let before = 0;
    for (const [at, count] of counts.entries()) {
      if (before + count >= share * total) {
        const low = bins.start + at * bins.width;
        if (at === bins.number - 1 && bins.number > 1) return `≥ ${figure(low, unit)}`;
        if (bins.whole && bins.width === 1) return figure(low, unit);
        if (bins.whole) return `${figure(low, unit)} – ${figure(low + bins.width - 1, unit)}`;
        const value = low + ((share * total - before) / count) * bins.width;
        return `≈ ${figure(Number(value.toPrecision(3)), unit)}`;
      }
      before += count;
    }
    return "–";
  };

  // --- a part of the run ------------------------------------------------------------------------------
  const form = byId("narrow");
  if (form) {
    const { slices } = JSON.parse(byId("data").textContent).results;
    const binsOf = new Map(slices.bins.map((bins) => [bins.metric, bins]));
    const family = byId("choose-family"), size = byId("choose-size");
    const remember = (row) => ({ row, whole: [...row.children].map((cell) => cell.cloneNode(true)) });
    const figureRows = [...document.querySelectorAll("tr[data-figure]")].map(remember);
    const tables = [...document.querySelectorAll("table.differences tbody")].map((body) => ({
      body, rows: [...body.querySelectorAll("tr[data-difference]")].map(remember),
    }));
    const restore = ({ row, whole }) => row.replaceChildren(...whole.map((cell) => cell.cloneNode(true)));
    const fill = (cells, texts) => texts.forEach((text, at) => { if (text !== null) cells[at].textContent = text; });

    const showFigures = (remembered, part) => {
      restore(remembered);
      if (part === 0) return;
      const { row } = remembered, unit = row.parentElement.dataset.unit;
      const found = slices.figures[Number(row.dataset.figure)], bins = binsOf.get(found.metric);
      const total = part < 0 ? 0 : found.n[part], counts = total ? found.counts[part] : [];
      const drawing = row.querySelector("svg"), line = drawing.querySelector(".mean");
      drawing.querySelector("path").setAttribute("d", total ? bars(bins, counts) : "");
      drawing.setAttribute("aria-label", total ? mostOften(bins, counts, total, unit) : "no figures");
      line.setAttribute("y1", total ? 0 : 26);
      if (total) {
        const reach = bins.start + bins.width * bins.number;
        const at = place(Math.min(found.mean[part] + (bins.whole ? bins.width / 2 : 0), reach), bins.start, reach);
        line.setAttribute("x1", at);
        line.setAttribute("x2", at);
      }
      const texts = total
        ? [mean(found.mean[part], unit), quantile(bins, counts, total, 0.5, unit), quantile(bins, counts, total, 0.9, unit),
           figure(found.min[part], unit), figure(found.max[part], unit), figure(total, "")]
        : ["–", "–", "–", "–", "–", "0"];
      fill(row.children, [null, null, ...texts, "–"]);
    };

    const verdict = (low, high, direction, none, difference) => {
      if (none) return none === "same" && difference === 0 ? "equal" : none;
      if (low === null || (low <= 0 && high >= 0)) return low === 0 && high === 0 ? "equal" : "unclear";
      if (direction === "none") return high < 0 ? "lower" : "higher";
      return high < 0 === (direction === "lower") ? "better" : "worse";
    };
    const verdictWords = { equal: "no difference", unclear: "not clear", few: "no interval: too few histories differ",
      same: "no interval: all histories are alike", uneven: "no interval: differences too uneven" };
    const showDifferences = ({ body, rows }, part) => {
      rows.forEach(restore);
      if (part === 0) return;
      const at = (row, name) => (part < 0 ? null : slices.differences[Number(row.dataset.difference)][name][part]);
      const ends = rows.flatMap(({ row }) => [at(row, "low"), at(row, "high")]).filter((end) => end !== null);
      const low = Math.min(0, ...ends), high = Math.max(0, ...ends);
      const { unit, direction } = body.dataset;
      for (const { row } of rows) {
        const none = part < 0 ? null : (slices.differences[Number(row.dataset.difference)].no_interval || [])[part];
        const found = verdict(at(row, "low"), at(row, "high"), direction, none, at(row, "difference"));
        const drawing = row.querySelector("svg"), known = at(row, "low") !== null;
        drawing.setAttribute("class", `forest ${found}`);
        const zero = place(0, low, high);
        const across = (selector, values) => {
          const mark = drawing.querySelector(selector);
          for (const [name, value] of Object.entries(values)) mark.setAttribute(name, value);
        };
        across(".zero", { x1: zero, x2: zero, y1: 0, y2: known ? 16 : 0 });
        across(".interval", known
          ? { x1: place(at(row, "low"), low, high), x2: place(at(row, "high"), low, high), y1: 8, y2: 8 }
          : { x1: -9, x2: -9, y1: 8, y2: 8 });
        across("circle", { cx: known ? place(at(row, "difference"), low, high) : 0, cy: 8, r: known ? 3.5 : 0 });
        fill(row.children, [null, null, verdictWords[found] || found, signed(at(row, "difference"), unit),
          signed(at(row, "low"), unit), signed(at(row, "high"), unit), "–", "–", "–", figure(at(row, "histories") || 0, "")]);
        row.children[2].className = `verdict ${found}`;
      }
    };

    const chosen = (select) => (select && select.value !== "" ? Number(select.value) : null);
    const narrow = () => {
      const wanted = { family: chosen(family), size: chosen(size) };
      const part = slices.of.findIndex((one) => one.family === wanted.family && one.size === wanted.size);
      figureRows.forEach((remembered) => showFigures(remembered, part));
      tables.forEach((table) => showDifferences(table, part));
      for (const row of document.querySelectorAll("table.cases tr[data-family]")) {
        row.hidden = wanted.family !== null && row.dataset.family !== String(wanted.family);
      }
      const histories = part < 0 ? 0 : slices.of[part].histories;
      const all = slices.of[0].histories;
      byId("narrowed").textContent = part === 0
        ? `All ${figure(all, "")} histories and single states`
        : `${figure(histories, "")} of ${figure(all, "")} histories and single states`;
    };
    const alone = (changed, other) => () => {
      if (other && form.hasAttribute("data-one") && changed.value !== "") other.selectedIndex = 0;
      narrow();
    };
    if (family) family.addEventListener("change", alone(family, size));
    if (size) size.addEventListener("change", alone(size, family));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    narrow();
  }

  // --- who runs what ----------------------------------------------------------------------------------
  const states = [...document.querySelectorAll("details.state")];
  const controls = byId("controls");

  if (controls && states.length > 0) {
    const stateChoice = byId("choose-state");
    const assignorChoice = byId("choose-assignor");
    const previous = byId("previous-state");
    const next = byId("next-state");

    const filter = () => {
      const wanted = assignorChoice.value;
      const state = states[stateChoice.selectedIndex];
      for (const part of state.querySelectorAll("[data-assignor]")) {
        part.hidden = wanted !== "" && part.dataset.assignor !== wanted;
      }
      byId("absent").hidden = state.querySelector("thead [data-assignor]:not([hidden])") !== null;
    };
    const show = (index) => {
      states.forEach((state, at) => {
        state.hidden = at !== index;
        if (at === index) state.open = true;
      });
      stateChoice.selectedIndex = index;
      previous.disabled = index === 0;
      next.disabled = index === states.length - 1;
      byId("shown").textContent = stateChoice.options[index].textContent;
      filter();
    };
    const follow = () => {
      const index = states.findIndex((state) => "#" + state.id === location.hash);
      if (index < 0) return;
      show(index);
      if (!byId("absent").hidden) {
        assignorChoice.selectedIndex = 0;
        filter();
      }
      states[index].scrollIntoView();
      states[index].querySelector("summary").focus();
    };

    stateChoice.addEventListener("change", () => show(stateChoice.selectedIndex));
    assignorChoice.addEventListener("change", filter);
    previous.addEventListener("click", () => show(stateChoice.selectedIndex - 1));
    next.addEventListener("click", () => show(stateChoice.selectedIndex + 1));
    controls.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", follow);
    controls.hidden = false;
    // On a narrow screen, one decision beside the state before it is what fits.
    const first = states[0].querySelector("thead [data-assignor]");
    if (first && matchMedia("(max-width: 40rem)").matches) assignorChoice.value = first.dataset.assignor;
    show(Math.max(0, states.findIndex((state) => state.open)));
    follow();
  }

  // --- what is one click away -------------------------------------------------------------------------
  const unfold = () => {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    const closed = [];
    for (let part = target && target.closest("details:not([open])"); part; part = part.parentElement.closest("details:not([open])")) {
      if (part.matches(".fold, .more, .why")) closed.push(part);
    }
    if (!closed.length) return;
    closed.forEach((part) => { part.open = true; });
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  const folded = () => [...document.querySelectorAll("details.fold:not([open])")];
  let opened = [];
  addEventListener("beforeprint", () => { opened = folded(); opened.forEach((part) => { part.open = true; }); });
  addEventListener("afterprint", () => opened.forEach((part) => { part.open = false; }));

  const save = byId("save");
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([byId("data").textContent], { type: "application/json" }));
    link.download = "figures.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  byId("download").hidden = false;
})();
