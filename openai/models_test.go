package openai_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/openai"
	"github.com/clichain/clichain/specs"
)

// TestModelNames checks which model the backend gets, and which names /v1/models lists.
func TestModelNames(t *testing.T) {
	var lists atomic.Int32
	backend := says("x")
	backend.asked = make(chan clichain.Request, 1)
	change := func(c *openai.Config) {
		c.ModelAliases = map[string]string{
			"gpt-4o": "one/large", "openai/gpt-4o": "zero", "any": "clichain", "a": "b", "b": "a", "one/small": "one/large", "self": "self",
		}
		c.ListModels = func(context.Context) []string {
			lists.Add(1)
			return []string{"one/listed", "one/vendor/listed", "other/listed"}
		}
	}
	plain := serving(t, backend, change)
	replacing := serving(t, backend, change, func(c *openai.Config) { c.DefaultModel = "one/default" })
	for name, want := range map[string][2]string{
		"clichain": {"", ""}, "": {"", ""}, "gpt-4o": {"one/large", "one/large"}, "openai/gpt-4o": {"zero", "zero"}, "any": {"", ""},
		"a": {"b", "b"}, "b": {"a", "a"}, "self": {"self", "self"}, "one/small": {"one/large", "one/large"},
		"one": {"one", "one"}, "zero/x": {"zero/x", "zero/x"}, "one/": {"one/", "one/default"},
		"listed": {"listed", "listed"}, "one/listed": {"one/listed", "one/listed"}, "other/listed": {"other/listed", "other/listed"}, "vendor/listed": {"vendor/listed", "vendor/listed"},
		"gpt-5": {"gpt-5", "one/default"}, "two/x": {"two/x", "one/default"}, "GPT-4o": {"GPT-4o", "one/default"},
	} {
		body := strings.Replace(hi, `"clichain"`, quoted(t, name), 1)
		require.Equal(t, 200, post(t, plain, chat, body).status)
		require.Equal(t, want[0], (<-backend.asked).Model, name)
		require.Equal(t, 200, post(t, replacing, chat, body).status)
		require.Equal(t, want[1], (<-backend.asked).Model, name)
	}
	choosing := serving(t, backend, change, func(c *openai.Config) { c.DefaultModel = "clichain" })
	require.Equal(t, 200, post(t, choosing, chat, strings.Replace(hi, `"clichain"`, `"gpt-5"`, 1)).status)
	require.Empty(t, (<-backend.asked).Model)
	lists.Store(0)
	a := do(t, plain, request(t, plain, http.MethodGet, "/v1/models", ""))
	require.Equal(t, 200, a.status)
	for id, owner := range map[string]string{"clichain": "clichain", "one": "clichain", "gpt-4o": "clichain", "openai/gpt-4o": "clichain", "one/listed": "one", "one/vendor/listed": "one"} {
		require.Regexp(t, `{"id":"`+id+`","object":"model","created":\d+,"owned_by":"`+owner+`"}`, a.body)
		require.Equal(t, 200, do(t, plain, request(t, plain, http.MethodGet, "/v1/models/"+id, "")).status, id)
	}
	require.EqualValues(t, 1, lists.Load(), "the list is kept")
}

// TestUnknownModel checks that a model that no installed CLI has is a mistake of the client, whichever CLI is missing.
func TestUnknownModel(t *testing.T) {
	type failed = clichain.BackendError
	missing := &failed{Backend: "b", Reason: clichain.ReasonNotInstalled, Stage: call.StageSkipped}
	unknown := &failed{Backend: "a", Reason: clichain.ReasonBadModel}
	foreign := &failed{Backend: "a", Reason: clichain.ReasonModelMismatch, Stage: call.StageSkipped}
	loggedOut := &failed{Backend: "b", Reason: clichain.ReasonUnauthenticated}
	for _, test := range []struct {
		name, model string
		failures    []*failed
		status      int
	}{
		{"unknown to one, another is missing", "gpt-4o", []*failed{unknown, missing}, 404},
		{"the missing one is first", "gpt-4o", []*failed{missing, unknown}, 404},
		{"the missing one would have it", "gpt-4o", []*failed{foreign, missing}, 404},
		{"all are missing", "gpt-4o", []*failed{missing, missing}, 503},
		{"the missing one is addressed", "one/gpt-4o", []*failed{foreign, missing}, 503},
		{"another could have it", "gpt-4o", []*failed{foreign, loggedOut}, 503},
	} {
		err := &clichain.ChainError{}
		for _, e := range test.failures {
			err.Attempts = append(err.Attempts, clichain.Attempt{Backend: e.Backend, Reason: e.Reason, Skipped: e.Stage == call.StageSkipped, Err: e})
		}
		s := serving(t, &script{err: err})
		for _, body := range []string{hi, streamHi} {
			a := post(t, s, chat, strings.Replace(body, `"clichain"`, quoted(t, test.model), 1))
			require.Equal(t, test.status, a.status, test.name)
			if e := a.failure(t); test.status == 404 {
				require.Equal(t, "model_not_found", e.Code)
				require.Equal(t, "model", e.Param)
				require.Contains(t, e.Message, `no CLI here has the model "gpt-4o"; see /v1/models and Config.ModelAliases`)
				require.Equal(t, "false", a.header.Get("X-Should-Retry"))
			}
		}
	}
}

// TestMisfits checks that a request whose schema no answer matches asks the CLIs twice in all.
func TestMisfits(t *testing.T) {
	var backends []clichain.Backend
	for _, spec := range []clichain.CliSpec{specs.Claude(), specs.Codex(), specs.Gemini()} {
		path := clitest.Fake(t, spec.Binary, clitest.Answer(spec, "I cannot help with that."))
		backends = append(backends, clichain.NewProvider(spec, &clichain.Config{Binary: path}))
	}
	for _, body := range []string{hi, streamHi} {
		s := serving(t, clichain.ChainOf(backends, &clichain.ChainConfig{NoCooldown: true}))
		a := post(t, s, chat, strings.Replace(body, "{", `{"response_format":{"type":"json_object"},`, 1))
		require.Equal(t, 400, a.status, a.body)
		require.Equal(t, "schema_mismatch", a.failure(t).Code)
		require.Equal(t, "claude=bad_output, claude=bad_output", a.header.Get("Clichain-Attempts"))
		require.Equal(t, "false", a.header.Get("X-Should-Retry"))
	}
}
