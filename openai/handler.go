package openai

import (
	"net/http"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai/internal/apierror"
)

// NewHandler returns a handler that answers the requests of OpenAI clients with backend: POST /v1/chat/completions,
// POST /v1/responses and GET /v1/models. GET /healthz answers without a token. NewHandler copies config; nil is the
// zero value, with which every other request fails with status 401. It panics if backend is nil. The
// handler is safe for concurrent use.
func NewHandler(backend clichain.Backend, config *Config) http.Handler {
	if backend == nil {
		panic("openai: NewHandler: backend is nil")
	}
	config = config.withDefaults()
	m := newModels(config)
	a := &answerer{config, backend, newLimiter(config), &ignoredFields{log: config.Logger}, m, newAnswers()}
	routes := map[string]struct {
		method string
		serve  endpoint
	}{
		"/v1/chat/completions":  {http.MethodPost, a.endpoint(chatAPI)},
		"/v1/responses":         {http.MethodPost, a.endpoint(responsesAPI)},
		"/v1/models":            {http.MethodGet, m.list},
		"/v1/models/{model...}": {http.MethodGet, m.get},
	}
	mux, open := http.NewServeMux(), http.NewServeMux()
	for path, route := range routes {
		mux.Handle(route.method+" "+path, route.serve.handler(config.Logger))
		mux.Handle(path, onlyBy(route.method).handler(config.Logger))
	}
	mux.Handle("/", endpoint(unknownURL).handler(config.Logger))
	access := &access{config}
	openRoutes(open, config)
	open.Handle("/", access.requireToken(mux))
	return access.guard(open)
}

func unknownURL(_ *reply, r *http.Request) *apierror.Error {
	return apierror.Invalid(http.StatusNotFound, "", "unknown_url",
		"there is no %s %s here: the base URL ends with /v1, and has /models, /chat/completions and /responses",
		r.Method, r.URL.Path)
}

func onlyBy(method string) endpoint {
	return func(w *reply, r *http.Request) *apierror.Error {
		w.Header().Set("Allow", method)
		return apierror.Invalid(http.StatusMethodNotAllowed, "", "method_not_allowed",
			"%s is not for %s: use %s", r.URL.Path, r.Method, method)
	}
}
