package openai

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
)

// Config sets the access to a handler and its behavior. Requests fail with status 401 as long as Token is empty; the
// zero value of the other fields selects a default.
//
// The handler answers only requests whose Host header names this machine: localhost or a loopback address, with any
// port. It refuses other hosts with status 403, so that a web page cannot reach it under another host name.
type Config struct {
	// Token is the bearer token that each request must have.
	Token string
	// Backends are the names that requests may use as model, beside "clichain". /v1/models lists them.
	Backends []string
	// ModelAliases replace the model of a request, such as {"gpt-4o": "claude/sonnet"}. The replacement is not an alias
	// itself. /v1/models lists them.
	ModelAliases map[string]string
	// DefaultModel replaces the model of a request if /v1/models does not list it and it does not begin with the name of
	// a backend and a slash. Empty: the backends get each name.
	DefaultModel string
	// ListModels returns the models of the CLIs as backend/model, for /v1/models and DefaultModel. The handler keeps a
	// list for 10 min, and runs ListModels only once at a time. Nil: there is no list.
	ListModels func(context.Context) []string
	// AllowedOrigins are the origins of web pages that may send requests, such as "http://localhost:3000". Nil: none.
	AllowedOrigins []string
	// Strict refuses fields that CLIs do not support and that do not change the meaning of a request, such as
	// temperature. By default the handler ignores these fields. It names them in the header Clichain-Ignored of the
	// response, and logs each field once.
	Strict bool
	// Concurrency limits how many requests are answered at the same time. Zero: 4.
	Concurrency int
	// MaxWaiting limits how many more requests wait, each for at most a minute. The handler refuses the others with the
	// code server_busy. Zero: 64. Negative: none.
	MaxWaiting int
	// BufferStreams sends the text of a stream when the answer is complete, so that the backend can fail over until then.
	BufferStreams bool
	// MaxBodyBytes limits the body of a request. Zero: 8 MiB.
	MaxBodyBytes int64
	// Trace returns the context for the backend. The context that it gets has the request's trace: see call.TraceOf. Nil:
	// the context is used as it is.
	Trace func(context.Context) context.Context
	// FieldNames are the names of fields of Config in error messages, such as {"Strict": "myserver --strict"}. A
	// field without an entry has its Go name, such as "Config.Strict". The messages name Token, AllowedOrigins,
	// Strict, ModelAliases, Concurrency, MaxWaiting and BufferStreams.
	FieldNames map[string]string
	// Logger gets one record per request: id, endpoint, status, duration, backend and reason, but no prompt and no answer.
	// Nil: no log.
	Logger *slog.Logger
}

const (
	defaultConcurrency  = 4
	defaultMaxWaiting   = 64
	defaultMaxBodyBytes = 8 << 20
)

// withDefaults returns a copy in which defaults replace zero values. Nil is the zero Config.
func (c *Config) withDefaults() *Config {
	var set Config
	if c != nil {
		set = *c
	}
	set.Concurrency = cmp.Or(set.Concurrency, defaultConcurrency)
	set.MaxWaiting = max(cmp.Or(set.MaxWaiting, defaultMaxWaiting), 0)
	set.MaxBodyBytes = cmp.Or(set.MaxBodyBytes, defaultMaxBodyBytes)
	set.Logger = cmp.Or(set.Logger, slog.New(slog.DiscardHandler))
	return &set
}

// fieldName returns the name of a field of Config for error messages.
func (c *Config) fieldName(field string) string { return cmp.Or(c.FieldNames[field], "Config."+field) }

// ErrDraining is the cause with which a server cancels the contexts of requests when it shuts down. The handler then
// answers with status 503. If the context ends for another cause, it sends no answer, because the client has left.
var ErrDraining = errors.New("the server is shutting down")
