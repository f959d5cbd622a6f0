// Before anything is drawn: the theme that was chosen here; and the token leaves the address, where it
// stands once, and is kept for this tab.
document.documentElement.dataset.theme = localStorage.getItem("adze-theme") ?? "system";
if (location.hash.length > 1 && !location.hash.startsWith("#/")) {
  sessionStorage.setItem("adze", location.hash.slice(1));
  history.replaceState(null, "", "/#/");
}
