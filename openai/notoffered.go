package openai

import (
	"io"
	"net/http"

	"github.com/clichain/clichain/openai/internal/apierror"
)

// notOffered are URLs of known APIs that the handler does not offer, with the reason.
var notOffered = map[string]struct {
	reason    string
	anthropic bool
}{
	"/v1/messages":        {"Anthropic's API is not offered: " + otherClient, true},
	"/v1/messages/{call}": {"Anthropic's API is not offered: " + otherClient, true},
	"/v1/complete":        {"Anthropic's API is not offered: " + otherClient, true},
	"/v1/completions":     {"CLIs answer messages and do not continue texts: use /v1/chat/completions", false},
	"/v1/embeddings":      {"CLIs compute no embeddings: use another service for them", false},
	"/v1/moderations":     {"CLIs do not classify texts: use another service for it", false},
	"/v1/images/{call}":   {"CLIs generate no images: use another service for them", false},
	"/v1/audio/{call}":    {"CLIs neither speak nor listen: use another service for it", false},
	"/v1/files":           {"files are not kept: send images in the messages", false},
	"/v1/batches":         {"batches are not offered over HTTP: use the command clichain batch", false},
	"/v1/responses/{id}":  {"responses cannot be read again: send the conversation as input", false},
}

const otherClient = "use a client of OpenAI's API with /v1/chat/completions or /v1/responses"

// openRoutes adds the URLs that need no token: clients of other APIs send theirs in other headers, and a check of the
// health has none.
func openRoutes(mux *http.ServeMux, config *Config) {
	for path, missing := range notOffered {
		mux.Handle(path, endpoint(func(_ *reply, r *http.Request) *apierror.Error {
			err := apierror.Invalid(http.StatusNotFound, "", "unknown_url", "%s: %s", r.URL.Path, missing.reason)
			err.Anthropic = missing.anthropic
			return err
		}).handler(config.Logger))
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok"}`+"\n") // a client that left needs no answer
	})
}
