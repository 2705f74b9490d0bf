// Asks for the next view without leaving the page; everything that it shows comes from the server. Without it, every
// link and form works by itself.
"use strict";
(() => {
  const state = { at: 0 };
  const PATHS = ["/state", "/history"];
  const own = (url) => url.origin === location.origin && PATHS.includes(url.pathname);
  const say = (words) => { document.getElementById("said").textContent = words; };
  const fetched = (url) => fetch(url, { credentials: "same-origin" });

  const pageAt = async (url) => {
    const answer = await fetched(url);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.querySelector("main")) throw new Error("this is no page of ours");
    return page;
  };

  // A page whose plays are under way is asked for until they are done; meanwhile only its sentence changes.
  const wait = () => {
    const mine = state.at;
    setTimeout(async () => {
      try {
        const page = mine === state.at && await pageAt(location.href);
        if (!page || mine !== state.at) return;
        const underway = page.getElementById("underway");
        if (underway) {
          document.getElementById("underway").textContent = underway.textContent;
          wait();
        } else {
          await show(new URL(location.href), { push: false });
        }
      } catch (error) {
        if (mine === state.at) document.getElementById("underway").textContent = "The page does not answer any more: is assignor ui still running?";
      }
    }, 700);
  };

  const show = async (url, { push = true, focus = null } = {}) => {
    state.at += 1;
    const mine = state.at;
    document.body.classList.add("asking");
    try {
      const page = await pageAt(url);
      if (mine !== state.at) return;
      player.stop();
      for (const part of ["header.top", "main"]) {
        document.querySelector(part).replaceWith(page.querySelector(part));
      }
      document.title = page.title;
      if (push) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
      say(page.title);
      prepare();
      const target = (focus && document.getElementById(focus)) || (url.hash && document.getElementById(url.hash.slice(1)));
      if (focus && target) target.focus();
      else if (target) target.scrollIntoView();
    } catch (error) {
      if (mine === state.at) location.assign(url);
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

  // --- an episode that is played ------------------------------------------------------------------------
  const player = (() => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    let playing = null, asked = false, wanted = null, noted = 0;
    const parts = () => {
      const form = document.getElementById("moment");
      return form && { form, slider: form.querySelector("#t"), button: form.querySelector("#play"), speed: form.querySelector("#speed") };
    };
    const seconds = (ms) => String(Math.round(ms / 10) / 100);
    const draw = (at) => {
      const { form, slider } = parts();
      slider.value = at;
      form.querySelector("output").textContent = seconds(at);
      for (const cursor of document.querySelectorAll(".gantt .cursor")) {
        const { left, right, untilMs, height } = cursor.dataset;
        const x = Number(left) + (Number(right) - Number(left)) * Math.min(at / Number(untilMs), 1);
        cursor.setAttribute("d", `M${x.toFixed(1)} 0V${height}`);
      }
    };
    const note = () => {
      const found = parts();
      if (found) history.replaceState(null, "", addressOf(found.form));
      noted = performance.now();
    };
    // One question at a time; of those that come meanwhile, the latest is asked next.
    const ask = async (at) => {
      wanted = at;
      if (asked) return;
      asked = true;
      try {
        while (wanted !== null) {
          const { form } = parts();
          const url = addressOf(form);
          url.pathname = "/moment";
          url.searchParams.set("t", Math.round(wanted));
          wanted = null;
          const answer = await fetched(url);
          const text = await answer.text();
          const place = document.getElementById("moment-part");
          if (!answer.ok || !place || parts().form !== form) return;
          const part = new DOMParser().parseFromString(text, "text/html");
          place.replaceChildren(...part.body.childNodes);
        }
      } catch (error) {
        stop();
        say("The page does not answer any more.");
      } finally {
        asked = false;
      }
    };
    const stop = () => {
      if (!playing) return;
      clearTimeout(playing.timer);
      playing = null;
      const found = parts();
      if (!found) return;
      found.button.textContent = "Play";
      note();
      say(`Paused at ${seconds(found.slider.value)} s`);
    };
    const step = () => {
      const { slider, speed } = parts();
      const now = performance.now();
      playing.at = Math.min(playing.at + (now - playing.seen) * Number(speed.value), Number(slider.max));
      playing.seen = now;
      draw(Math.round(playing.at));
      ask(playing.at);
      if (now - noted > 1000) note();
      if (playing.at >= Number(slider.max)) { stop(); return; }
      // Who wants less motion sees a new picture each second, nobody sees more than twenty.
      playing.timer = setTimeout(step, calm.matches ? 1000 : 50);
    };
    const play = () => {
      const { slider, button } = parts();
      const at = Number(slider.value) >= Number(slider.max) ? 0 : Number(slider.value);
      playing = { at, seen: performance.now(), timer: 0 };
      button.textContent = "Pause";
      say("Playing");
      step();
    };
    const toggle = () => (playing ? stop() : play());
    const prepare = () => {
      const found = parts();
      if (!found) return;
      found.form.querySelector(".play").hidden = false;
      found.button.addEventListener("click", toggle);
      found.slider.addEventListener("input", () => {
        const at = Number(found.slider.value);
        if (playing) playing.at = at;
        draw(at);
        ask(at);
      });
      found.slider.addEventListener("change", note);
      found.slider.addEventListener("keydown", (event) => {
        if (event.key !== " ") return;
        event.preventDefault();
        toggle();
      });
    };
    return { prepare, stop };
  })();

  // --- a recording that grows ---------------------------------------------------------------------------
  const follow = async () => {
    const here = document.getElementById("pulse");
    if (here && !document.hidden) {
      try {
        const answer = await fetched(here.dataset.pulse);
        const pulse = await answer.json();
        if (here.isConnected && answer.ok) {
          here.querySelector(".words").textContent = pulse.sentence;
          here.className = `pulse ${pulse.word}`;
          if (pulse.word !== here.dataset.word) say(pulse.sentence);
          here.dataset.word = pulse.word;
          const isHistory = location.pathname === "/history";
          if (isHistory && String(pulse.version) !== here.dataset.version) {
            const focused = document.activeElement;
            await show(new URL(location.href), { push: false, focus: focused && focused.id ? focused.id : null });
          }
        }
      } catch (error) {
        if (here.isConnected) here.querySelector(".words").textContent = "The page does not answer any more: is assignor ui still running?";
      }
    }
    setTimeout(follow, 2000);
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
    player.prepare();
    if (document.getElementById("underway")) wait();
  };

  addEventListener("submit", (event) => {
    const url = addressOf(event.target);
    if (!own(url)) return;
    event.preventDefault();
    const focused = document.activeElement;
    show(url, { focus: event.target.contains(focused) && focused.id ? focused.id : null });
  });
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const url = new URL(link.href);
    if (!own(url) || link.hasAttribute("download") || (url.search === location.search && url.pathname === location.pathname && url.hash)) return;
    event.preventDefault();
    show(url);
  });
  addEventListener("popstate", () => show(new URL(location.href), { push: false }));
  prepare();
  follow();
})();
