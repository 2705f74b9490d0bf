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
    if (matchMedia("(max-width: 40rem)").matches) assignorChoice.selectedIndex = 1;
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
