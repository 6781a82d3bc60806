// Package clients tests "clichain serve" with unmodified clients of OpenAI's API: the official ones for Go and npm, the
// AI SDK and LangChain. A fake CLI answers. Its test writes the table of docs/reference/http.md.
package clients
