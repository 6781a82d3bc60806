package loopback

import (
	"net/http"
	"strings"
)

// Protocol names an API that the server speaks.
type Protocol string

// The protocols, by the CLI that uses them: claude, codex, opencode and qwen, gemini.
const (
	Messages  Protocol = "messages"
	Responses Protocol = "responses"
	Chat      Protocol = "chat"
	Gemini    Protocol = "gemini"
	// CodeAssist precedes Gemini if gemini is logged in with a Google account.
	CodeAssist Protocol = "code_assist"
)

// Request is one request as the server received it, without its secrets.
type Request struct {
	Protocol Protocol // empty if the path is no model call
	Method   string
	Path     string // with the query, without keys
	Header   http.Header
	Auth     string // how the caller authenticated: "bearer", "x-api-key", "x-goog-api-key" or ""
	Body     []byte
	// N counts the model calls from 1. Calls outside the conversation, such as for the title of a session or the
	// choice of a model, are Side, have N 0, and do not reach the script.
	N    int
	Side bool

	view view
}

// view is what tests examine in a model call, whatever the protocol.
type view struct {
	model, system, prompt string
	tools, results        []string
	stream                bool
}

// Model returns the requested model.
func (q Request) Model() string { return q.view.model }

// System returns every instruction in the request that is not the user's, joined by newlines.
func (q Request) System() string { return q.view.system }

// Prompt returns the last text of the user, unchanged.
func (q Request) Prompt() string { return q.view.prompt }

// Tools returns the names of the tools that the request offers to the model.
func (q Request) Tools() []string { return q.view.tools }

// Results returns the outcomes of the tools that have run, oldest first.
func (q Request) Results() []string { return q.view.results }

var secretHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Cookie", "Proxy-Authorization"}

// withoutSecrets copies the headers of a request without those that may hold a key, because tests log requests.
func withoutSecrets(h http.Header) http.Header {
	c := h.Clone()
	for _, k := range secretHeaders {
		c.Del(k)
	}
	return c
}

func authOf(r *http.Request) string {
	switch {
	case strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "):
		return "bearer"
	case r.Header.Get("X-Api-Key") != "":
		return "x-api-key"
	case r.Header.Get("X-Goog-Api-Key") != "" || r.URL.Query().Has("key"):
		return "x-goog-api-key"
	}
	return ""
}

func pathOf(r *http.Request) string {
	q := r.URL.Query()
	if !q.Has("key") {
		return r.URL.RequestURI()
	}
	q.Del("key")
	u := *r.URL
	u.RawQuery = q.Encode()
	return u.RequestURI()
}
