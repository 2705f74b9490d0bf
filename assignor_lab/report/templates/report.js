// Shows one state and one decision at a time. Without it the page is complete: every state can be opened.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const states = [...document.querySelectorAll("details.state")];
  const controls = byId("controls");

  if (controls && states.length > 0) {
    const stateChoice = byId("choose-state");
    const assignorChoice = byId("choose-assignor");
    const previous = byId("previous-state");
    const next = byId("next-state");
    const heads = [...states[0].querySelectorAll("thead th[data-assignor]")];
    for (const head of heads) {
      const name = head.querySelector(".name, .long > summary");
      assignorChoice.append(new Option(name.textContent, head.dataset.assignor));
    }

    const show = (index) => {
      states.forEach((state, at) => {
        state.hidden = at !== index;
        if (at === index) state.open = true;
      });
      stateChoice.selectedIndex = index;
      previous.disabled = index === 0;
      next.disabled = index === states.length - 1;
      byId("shown").textContent = stateChoice.options[index].textContent;
    };
    const filter = () => {
      const wanted = assignorChoice.value;
      for (const part of byId("states").querySelectorAll("[data-assignor]")) {
        part.hidden = wanted !== "" && part.dataset.assignor !== wanted;
      }
    };
    const follow = () => {
      const index = states.findIndex((state) => "#" + state.id === location.hash);
      if (index < 0) return;
      show(index);
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
    if (matchMedia("(max-width: 40rem)").matches && heads.length > 0) {
      const first = heads.findIndex((head) => head.dataset.observed === undefined);
      assignorChoice.selectedIndex = Math.max(0, first) + 1;
    }
    filter();
    show(Math.max(0, states.findIndex((state) => state.open)));
    follow();
  }

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
