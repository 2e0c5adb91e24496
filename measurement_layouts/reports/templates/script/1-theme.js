"use strict";
document.documentElement.classList.add("js");

(function theme() {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = () => (root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches);
  const tell = () => {
    button.textContent = dark() ? "Light theme" : "Dark theme";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    tell();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  tell();
})();
