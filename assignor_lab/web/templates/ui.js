// Asks for the next view without leaving the page; everything that it shows comes from the server. Without it, every
// link and form works by itself.
"use strict";
(() => {
  const state = { at: 0 };
  const own = (url) => url.origin === location.origin && url.pathname === "/state";

  const show = async (url, { push = true, focus = null } = {}) => {
    state.at += 1;
    const mine = state.at;
    document.body.classList.add("asking");
    try {
      const answer = await fetch(url, { credentials: "same-origin" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== state.at) return;
      for (const part of ["header.top", "main"]) {
        document.querySelector(part).replaceWith(page.querySelector(part));
      }
      document.title = page.title;
      if (push) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
      document.getElementById("said").textContent = page.title;
      prepare();
      const target = (focus && document.getElementById(focus)) || (url.hash && document.getElementById(url.hash.slice(1)));
      if (focus && target) target.focus();
      else if (target) target.scrollIntoView();
    } catch (error) {
      location.assign(url);
    } finally {
      if (mine === state.at) document.body.classList.remove("asking");
    }
  };

  const addressOf = (form) => {
    const url = new URL(form.getAttribute("action"), location.href);
    for (const [name, value] of new FormData(form)) {
      if (value !== "") url.searchParams.append(name, value);
    }
    return url;
  };

  const prepare = () => {
    for (const form of document.querySelectorAll("form.slider")) {
      form.hidden = false;
      const input = form.querySelector("input[type=range]");
      const step = JSON.parse(form.dataset.step);
      input.addEventListener("input", () => { form.querySelector("output").textContent = input.value; });
      input.addEventListener("change", () => {
        const filled = structuredClone(step);
        filled[0][0][1] = Number(input.value);
        const url = addressOf(form);
        url.searchParams.append("step", JSON.stringify(filled));
        show(url, { focus: input.id });
      });
    }
    for (const input of document.querySelectorAll("input[data-live]")) {
      let waiting = 0;
      input.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => show(addressOf(input.form), { push: false, focus: input.id }), 60);
      });
    }
    const change = document.getElementById("change");
    if (change) {
      for (const select of change.querySelectorAll("select")) {
        select.addEventListener("change", () => show(addressOf(change), { focus: select.id }));
      }
    }
  };

  addEventListener("submit", (event) => {
    const url = addressOf(event.target);
    if (!own(url)) return;
    event.preventDefault();
    show(url);
  });
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const url = new URL(link.href);
    if (!own(url) || link.hasAttribute("download") || (url.search === location.search && url.hash)) return;
    event.preventDefault();
    show(url);
  });
  addEventListener("popstate", () => show(new URL(location.href), { push: false }));
  prepare();
})();
