package clispec_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// live returns the smallest rules for a live mode that contain each kind of rule.
func live() clispec.LiveRules {
	message := func(method, params string) []clispec.LiveMessage {
		return []clispec.LiveMessage{{Method: method, Params: params}}
	}
	r := clispec.LiveRules{
		Envelope: clispec.EnvelopeJSONRPC, When: clispec.When{Access: []call.Access{call.AccessNone}},
		Ready: message("hello", ""),
		Open:  message("open", `{"dir":{dir:json},"system":{system_file:json}}`), Context: "id", Of: "params.id",
		Resume: message("resume", `{"id":{session:json}}`),
		Opened: message("choose", `{"id":{context:json},"model":"m-{model:text}"}`),
		Turn:   message("ask", ` {"id":{context:json},"schema":{schema},"tools":{allowed_tools:list},"text":{prompt:json}}`), TurnID: "turn",
		Interrupt: []clispec.LiveMessage{{Method: "stop", Params: `{"turn":{turn:json}}`, Notice: true}},
		Clear:     message("clear", `{}`), Close: message("close", `{"id":{context:json}}`),
		Cumulative: []string{"cost_usd"}, Calls: 7,
		Asks: []clispec.AskRule{{
			Method: "may", Tool: "tool", Input: "input", Options: "options", OptionID: "id", OptionKind: "kind",
			Allow: `{"option":{option:json},"input":{input}}`, AllowKind: "allow.*", Deny: `{"option":{option:json}}`, DenyKind: "deny.*",
			Otherwise: `{"cancelled":true}`,
		}},
		Events: []clispec.EventRule{{Match: map[string]string{"method": "ask"}, Kind: call.EventResult, Terminal: true}},
	}
	r.Turn[0].Ends, r.Turn[0].When = true, clispec.When{Set: []string{"schema"}, Output: []clispec.OutputMode{clispec.OutputLive}}
	return r
}

// living returns a spec with the given rules and a file that its messages may refer to.
func living(r clispec.LiveRules) clispec.Spec {
	return clispec.Spec{
		Name: "mine", Binary: "mine", Transports: []clispec.Transport{clispec.TransportStdin}, Live: r,
		Files: []clispec.FileRow{{Field: "system", Name: "system.md", Content: "{system}"}},
	}
}

// oneContext removes the rules that create further contexts.
func oneContext(r *clispec.LiveRules) {
	r.Open, r.Resume, r.Opened, r.Close, r.Context = nil, nil, nil, nil, ""
	r.Turn[0].Params = `{"text":{prompt:json}}`
}

func TestValidLiveRules(t *testing.T) {
	valid := map[string]func(*clispec.LiveRules){
		"each kind of rule":                func(*clispec.LiveRules) {},
		"none":                             func(r *clispec.LiveRules) { *r = clispec.LiveRules{} },
		"control envelope":                 func(r *clispec.LiveRules) { r.Envelope = clispec.EnvelopeControl },
		"one context":                      func(r *clispec.LiveRules) { oneContext(r) },
		"contexts without a clear message": func(r *clispec.LiveRules) { r.Clear = nil },
		"barrier without context names": func(r *clispec.LiveRules) {
			r.Of, r.Barrier = "", []clispec.LiveMessage{{Method: "sync"}}
		},
		"terminal event": func(r *clispec.LiveRules) {
			r.Turn[0].Ends, r.Turn[0].Notice = false, true
		},
		"events of a call": func(r *clispec.LiveRules) { r.Events, r.Turn[0].Ends = nil, false },
		"request with a constant answer": func(r *clispec.LiveRules) {
			r.Asks = []clispec.AskRule{{Method: "may", Deny: `{"no":1}`}}
		},
		"smallest rules": func(r *clispec.LiveRules) {
			message := []clispec.LiveMessage{{Method: "m"}}
			*r = clispec.LiveRules{Envelope: clispec.EnvelopeControl, Turn: message, Clear: message, Of: "id"}
		},
	}
	for name, change := range valid {
		t.Run(name, func(t *testing.T) {
			r := live()
			change(&r)
			require.NoError(t, living(r).Validate())
		})
	}
	require.True(t, slices.ContainsFunc(specs.Every(), func(s clispec.Spec) bool { return s.Live.Has() }), "TestValidSpecs has them")
}

// liveMistake is one error in the rules of the live mode.
type liveMistake struct {
	name    string
	spoil   func(*clispec.LiveRules)
	path    string
	problem string
}

var liveMistakes = []liveMistake{
	{"unknown envelope", func(r *clispec.LiveRules) { r.Envelope = "xml" }, "live.envelope", "is none of"},
	{"unknown field in the condition of the mode", func(r *clispec.LiveRules) { r.When.Set = []string{"modl"} }, "live.when.set[0]", `did you mean "model"?`},
	{"unknown access in the condition of the mode", func(r *clispec.LiveRules) { r.When.Access[0] = 9 }, "live.when.access[0]", "is not an access level"},
	{"guard", func(r *clispec.LiveRules) { r.Guards = []clispec.GuardRule{{Pattern: "(", Prefix: "x"}} }, "live.guards[0].pattern", "is not a regular expression"},
	{"guard without a prefix", func(r *clispec.LiveRules) { r.Guards = []clispec.GuardRule{{Pattern: "^/"}} }, "live.guards[0].prefix", "is missing"},
	{"no turn message", func(r *clispec.LiveRules) { r.Turn = nil }, "live.turn", "is empty"},
	{"no message for a new context", func(r *clispec.LiveRules) { oneContext(r); r.Clear = nil }, "live.open", "is empty, and so is live.clear"},
	{"neither context name nor barrier", func(r *clispec.LiveRules) { r.Of = "" }, "live.of", "is empty, and so is live.barrier"},
	{"barrier without a response", func(r *clispec.LiveRules) {
		r.Of, r.Barrier = "", []clispec.LiveMessage{{Method: "sync", Notice: true}}
	}, "live.barrier[0].notice", "only a response proves"},
	{"resume without the session ID", func(r *clispec.LiveRules) { r.Resume[0].Params = `{"dir":{dir:json}}` }, "live.resume[0].params", "does not contain {session}"},
	{"resume without a response", func(r *clispec.LiveRules) { r.Resume[0].Notice = true }, "live.resume[0].notice", "only a response shows"},
	{"resume without open", func(r *clispec.LiveRules) {
		resume := r.Resume
		oneContext(r)
		r.Resume = resume
	}, "live.resume", "replaces live.open"},
	{"barrier without a name", func(r *clispec.LiveRules) { r.Barrier = []clispec.LiveMessage{{}} }, "live.barrier[0].method", "is missing"},
	{"context ID without open", func(r *clispec.LiveRules) { oneContext(r); r.Turn[0].Params = `{"id":{context:json}}` }, "live.turn[0].params", "is the id from live.open"},
	{"turn ID without its path", func(r *clispec.LiveRules) { r.TurnID = "" }, "live.interrupt[0].params", "is the id at live.turn_id"},
	{"request for usage windows without a response", func(r *clispec.LiveRules) { r.Usage = []clispec.LiveMessage{{Method: "a", Notice: true}} }, "live.usage[0].notice", "only a response"},
	{"negative growth", func(r *clispec.LiveRules) { r.GrowthMB = -1 }, "live.growth_mb", "is negative"},
	{"unquoted text", func(r *clispec.LiveRules) { r.Turn[0].Params = `{"a":{prompt}}` }, "live.turn[0].params", "write a text as {field:json}"},
	{"quoted text without escapes", func(r *clispec.LiveRules) { r.Turn[0].Params = `{"a":"{prompt}"}` }, "live.turn[0].params", "write a text as {field:json}"},
	{"quoted JSON text", func(r *clispec.LiveRules) { r.Turn[0].Params = `{"a":"{prompt:json}"}` }, "live.turn[0].params", "is not a JSON object"},
	{"context without an ID", func(r *clispec.LiveRules) { r.Context = "" }, "live.context", "is empty"},
	{"no terminal event", func(r *clispec.LiveRules) { r.Events[0].Terminal = false }, "live.events", "no rule is terminal"},
	{"no events", func(r *clispec.LiveRules) { r.Events = nil }, "live.events", "no rule is terminal"},
	{"negative number of calls", func(r *clispec.LiveRules) { r.Calls = -1 }, "live.calls", "is negative"},
	{"counter", func(r *clispec.LiveRules) { r.Cumulative[0] = "cost" }, "live.cumulative[0]", "is none of"},
	{"event", func(r *clispec.LiveRules) {
		r.Events = append(r.Events, clispec.EventRule{Match: map[string]string{"method": "x"}, Kind: "answer"})
	}, "live.events[1].kind", "is none of"},
	{"event without a condition", func(r *clispec.LiveRules) { r.Events[0].Match = nil }, "live.events[0].match", "is empty"},

	{"ready without a name", func(r *clispec.LiveRules) { r.Ready[0].Method = "" }, "live.ready[0].method", "is missing"},
	{"open without a name", func(r *clispec.LiveRules) { r.Open[0].Method = "" }, "live.open[0].method", "is missing"},
	{"opened without a name", func(r *clispec.LiveRules) { r.Opened[0].Method = "" }, "live.opened[0].method", "is missing"},
	{"turn without a name", func(r *clispec.LiveRules) { r.Turn[0].Method = "" }, "live.turn[0].method", "is missing"},
	{"interrupt without a name", func(r *clispec.LiveRules) { r.Interrupt[0].Method = "" }, "live.interrupt[0].method", "is missing"},
	{"clear without a name", func(r *clispec.LiveRules) { r.Clear[0].Method = "" }, "live.clear[0].method", "is missing"},
	{"close without a name", func(r *clispec.LiveRules) { r.Close[0].Method = "" }, "live.close[0].method", "is missing"},
	{"second ready message without a name", func(r *clispec.LiveRules) { r.Ready = append(r.Ready, clispec.LiveMessage{}) }, "live.ready[1].method", "is missing"},
	{"notice with a response", func(r *clispec.LiveRules) { r.Interrupt[0].Ends = true }, "live.interrupt[0].ends", "a notice has no response"},
	{"condition", func(r *clispec.LiveRules) { r.Turn[0].When.Set[0] = "schem" }, "live.turn[0].when.set[0]", `did you mean "schema"?`},
	{"condition on a context", func(r *clispec.LiveRules) { r.Turn[0].When.Set[0] = "context" }, "live.turn[0].when.set[0]", "is not a field of a request"},
	{"unknown access in a condition", func(r *clispec.LiveRules) { r.Clear[0].When.Access = []call.Access{9} }, "live.clear[0].when.access[0]", "is not an access level"},
	{"unknown output in a condition", func(r *clispec.LiveRules) { r.Turn[0].When.Output[0] = "alive" }, "live.turn[0].when.output[0]", `did you mean "live"?`},

	{"unknown field in parameters", func(r *clispec.LiveRules) { r.Turn[0].Params = `{"a":{promt:json}}` }, "live.turn[0].params", `did you mean "prompt"?`},
	{"unknown file in parameters", func(r *clispec.LiveRules) { r.Open[0].Params = `{"a":{mcp_file:json}}` }, "live.open[0].params", "is not a valid field"},
	{"field of an answer in parameters", func(r *clispec.LiveRules) { r.Close[0].Params = `{"a":{option:json}}` }, "live.close[0].params", "is not a valid field"},
	{"list as parameters", func(r *clispec.LiveRules) { r.Turn[0].Params = `[{prompt:json}]` }, "live.turn[0].params", "is not a JSON object"},
	{"bare field as parameters", func(r *clispec.LiveRules) { r.Turn[0].Params = `{prompt}` }, "live.turn[0].params", "is not a JSON object"},
	{"text field without quotes", func(r *clispec.LiveRules) { r.Turn[0].Params = `{"a":{prompt:text}}` }, "live.turn[0].params", "is not a JSON object"},
	{"incomplete object", func(r *clispec.LiveRules) { r.Clear[0].Params = `{"a":1` }, "live.clear[0].params", "is not a JSON object"},
	{"text after the object", func(r *clispec.LiveRules) { r.Clear[0].Params = `{} x` }, "live.clear[0].params", "is not a JSON object"},
	{"blank parameters", func(r *clispec.LiveRules) { r.Clear[0].Params = " " }, "live.clear[0].params", "is not a JSON object"},

	{"request without a name", func(r *clispec.LiveRules) { r.Asks[0].Method = "" }, "live.asks[0].method", "is missing"},
	{"request without an answer", func(r *clispec.LiveRules) { r.Asks[0].Deny = "" }, "live.asks[0].deny", "waits for an answer"},
	{"second request without a refusal", func(r *clispec.LiveRules) { r.Asks = append(r.Asks, clispec.AskRule{Method: "may"}) }, "live.asks[1].deny", "is missing"},
	{"unknown field in a permission", func(r *clispec.LiveRules) { r.Asks[0].Allow = `{"a":{optin:json}}` }, "live.asks[0].allow", `did you mean "option"?`},
	{"invalid field in a refusal", func(r *clispec.LiveRules) { r.Asks[0].Deny = `{"a":{prompt:json}}` }, "live.asks[0].deny", "is not a valid field"},
	{"field of a turn in an answer", func(r *clispec.LiveRules) { r.Asks[0].Otherwise = `{"a":{turn:json}}` }, "live.asks[0].otherwise", "is not a valid field"},
	{"permission", func(r *clispec.LiveRules) { r.Asks[0].Allow = `"yes"` }, "live.asks[0].allow", "is not a JSON object"},
	{"refusal", func(r *clispec.LiveRules) { r.Asks[0].Deny = `no` }, "live.asks[0].deny", "is not a JSON object"},
	{"invalid fallback answer", func(r *clispec.LiveRules) { r.Asks[0].Otherwise = `{no}` }, "live.asks[0].otherwise", "is not a valid field"},
	{"invalid pattern of the allowing kind", func(r *clispec.LiveRules) { r.Asks[0].AllowKind = "(" }, "live.asks[0].allow_kind", "is not a regular expression"},
	{"invalid pattern of the denying kind", func(r *clispec.LiveRules) { r.Asks[0].DenyKind = "[" }, "live.asks[0].deny_kind", "is not a regular expression"},
	{"options without IDs", func(r *clispec.LiveRules) { r.Asks[0].OptionID = "" }, "live.asks[0].option_id", "as must option_kind"},
	{"options without kinds", func(r *clispec.LiveRules) { r.Asks[0].OptionKind = "" }, "live.asks[0].option_id", "as must option_kind"},
}

// problemsOf returns the first problem of each path in a spec.
func problemsOf(t *testing.T, spec clispec.Spec) map[string]string {
	t.Helper()
	found, ok := errors.AsType[*multierror.Error](spec.Validate())
	require.True(t, ok)
	problems := map[string]string{}
	for _, err := range found.Errors {
		mistake, ok := errors.AsType[*clispec.Error](err)
		require.True(t, ok)
		if problems[mistake.Path] == "" {
			problems[mistake.Path] = mistake.Problem
		}
		require.NotContains(t, mistake.Error(), "\n")
	}
	return problems
}

// Validate reports each error in the live mode with its path, and no other error.
func TestValidateLive(t *testing.T) {
	for _, test := range liveMistakes {
		t.Run(test.name, func(t *testing.T) {
			r := live()
			test.spoil(&r)
			problems := problemsOf(t, living(r))
			require.Len(t, problems, 1, "%v", problems)
			require.Contains(t, problems[test.path], test.problem)
		})
	}
}

// A NUL byte also makes the JSON invalid, but the error about the NUL byte is more useful.
func TestValidateLiveNUL(t *testing.T) {
	r := live()
	r.Clear[0].Params = "{\"a\":\"\x00\"}"
	require.Equal(t, map[string]string{"live.clear[0].params": "contains a NUL byte"}, problemsOf(t, living(r)))
}

// Messages without an envelope cannot be encoded.
func TestValidateLiveWithoutEnvelope(t *testing.T) {
	for _, name := range []string{"ready", "open", "resume", "opened", "turn", "interrupt", "clear", "close"} {
		t.Run(name, func(t *testing.T) {
			r := map[string]any{name: []clispec.LiveMessage{{Method: "m"}}}
			text, err := json.Marshal(r)
			require.NoError(t, err)
			var rules clispec.LiveRules
			require.NoError(t, json.Unmarshal(text, &rules))
			require.False(t, rules.Has())
			problems := problemsOf(t, living(rules))
			require.Equal(t, map[string]string{
				"live.envelope": "is empty: say how the messages of live." + name + " are written",
			}, problems)
		})
	}
}
