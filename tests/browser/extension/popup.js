const form = document.querySelector("form");
const output = document.querySelector("output");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  output.textContent = "";
  const answer = await chrome.runtime.sendMessage({ article: form.elements.article.value, button: event.submitter.value });
  output.textContent = JSON.stringify(answer);
});
