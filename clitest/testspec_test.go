package clitest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// Valid specs of third parties pass, however small they are. Package specs tests the built-in specs.
func TestValidThirdPartySpecs(t *testing.T) {
	for _, spec := range []clispec.Spec{lumen(t), mini(), {Name: "bare", Binary: "bare"}} {
		t.Run(spec.Name, func(t *testing.T) { TestSpec(t, spec) })
	}
}

// leaves returns a completer that returns from some calls before their CLI has ended.
func leaves(some func(clichain.Config, context.Context) bool) completer {
	return func(b clichain.Backend, ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		p, ok := b.(*clichain.Provider)
		if !ok || !some(p.Config(), ctx) {
			return b.Complete(ctx, req)
		}
		cfg := p.Config()
		timeout := time.After(cfg.Timeout)
		cfg.Timeout = within
		go func() { _, _ = clichain.NewProvider(mini(), &cfg).Complete(context.WithoutCancel(ctx), req) }()
		for len(Survivors(cfg.Binary)) < 2 {
			time.Sleep(time.Millisecond)
		}
		select {
		case <-ctx.Done():
			return nil, &clichain.BackendError{Reason: clichain.ReasonCanceled}
		case <-timeout:
			return nil, &clichain.BackendError{Reason: clichain.ReasonTimeout}
		}
	}
}

// tells is a completer whose errors contain the prompt.
func tells(b clichain.Backend, ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	resp, err := b.Complete(ctx, req)
	if err != nil {
		err = fmt.Errorf("asked %v: %w", req.Messages, err)
	}
	return resp, err
}

// Each check finds its kind of mistake and names the field that causes it, and no other check fails.
func TestBrokenSpecs(t *testing.T) {
	isolate(t, lumen(t)) // once for all specs, which have the same name
	row := func(w clispec.When, args ...string) clispec.ArgRow { return clispec.ArgRow{Args: args, When: w} }
	add := func(rows ...clispec.ArgRow) func(*clispec.Spec) {
		return func(s *clispec.Spec) { s.Args = append(rows, s.Args...) }
	}
	rule := func(kind clichain.EventKind, set map[string]string, match ...string) clispec.EventRule {
		return clispec.EventRule{Match: map[string]string{match[0]: match[1]}, Kind: kind, Set: set}
	}
	full, set := []call.Access{call.AccessFull}, func(field string) clispec.When { return clispec.When{Set: []string{field}} }
	for name, test := range map[string]struct {
		mutate   func(*clispec.Spec)
		complete completer
		check    string
		field    string
		says     string
	}{
		"invalid transport": {check: "valid", field: "transports[0]", says: "did you mean", mutate: func(s *clispec.Spec) {
			s.Transports = []clispec.Transport{"stdio"}
		}},
		"two mistakes": {check: "valid", field: "binary", says: "is missing", mutate: func(s *clispec.Spec) { s.Binary, s.LingerMS = "", -1 }},
		"preflight rule that refuses all calls": {check: "answers", field: "preflight[0]", says: "refused before the CLI starts", mutate: func(s *clispec.Spec) {
			s.Preflight = []clispec.PreflightRule{{Reason: clichain.ReasonPermissionRefused, Message: "never"}}
		}},
		"rules that no output satisfies": {check: "answers", field: "events", says: "no event rules recognize", mutate: func(s *clispec.Spec) {
			s.Events = []clispec.EventRule{{Match: map[string]string{"a|@keys|0": "x"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"text": "a"}}}
		}},
		"known bypass in all calls":    {check: "bypass", field: "args[0]", says: `"--yolo" with access none`, mutate: add(row(clispec.When{}, "--yolo"))},
		"known bypass in old versions": {check: "bypass", field: "args[0]", says: "access none of version 0.0.1", mutate: add(row(clispec.When{Before: "3.0.0"}, "--yolo"))},
		"bypass of access full at access read": {check: "bypass", field: "args[1]", says: `"--mode" with access read`, mutate: add(
			row(clispec.When{Access: []call.Access{call.AccessWrite}}, "--edit"),
			row(clispec.When{Access: []call.Access{call.AccessRead, call.AccessFull}}, "--mode", "anything"))},
		"variable of access full without access": {check: "bypass", field: "env[1]", says: `"LUMEN_FREE=1" with access none`, mutate: func(s *clispec.Spec) {
			add(row(clispec.When{Access: full}, "--agent"))(s)
			s.Env = append(s.Env, clispec.EnvRow{Name: "LUMEN_FREE", Value: "1", When: clispec.When{Access: []call.Access{call.AccessNone, call.AccessFull}}})
		}},
		"permission mode that bypasses": {check: "bypass", field: "preflight", says: "refuses permission_mode free with access read", mutate: add(
			row(clispec.When{Access: full, Unset: []string{"permission_mode"}}, "--mode", "free"),
			row(clispec.When{Access: levels[1:], Set: []string{"permission_mode"}}, "--mode", "{permission_mode}"))},
		"permission modes that may bypass": {check: "bypass", field: "preflight", says: "replaces the bypass", mutate: add(
			row(clispec.When{Access: full, Unset: []string{"permission_mode"}}, "--free"),
			row(clispec.When{Access: levels[1:], Set: []string{"permission_mode"}}, "--mode={permission_mode}"))},
		"prompt in an argument": {check: "stdin", field: "args[0]", says: "transport: [argv]", mutate: add(row(clispec.When{}, "--text={prompt}"))},
		"prompt in a variable": {check: "stdin", field: "env[1]", says: "shows the prompt", mutate: func(s *clispec.Spec) {
			s.Env = append(s.Env, clispec.EnvRow{Name: "LUMEN_PROMPT", Value: "{prompt}"})
		}},
		"stdin as second transport": {check: "stdin", field: "transports", says: "put stdin first", mutate: func(s *clispec.Spec) {
			s.Transports = []clispec.Transport{clispec.TransportArgv, clispec.TransportStdin}
		}},
		"guard with visible text": {check: "prompts", field: "guards[1].prefix", says: "changes the question", mutate: func(s *clispec.Spec) {
			s.Guards = append(s.Guards, clispec.GuardRule{Pattern: "^-", Prefix: "Answer this: "})
		}},
		"prompt in quotes": {check: "prompts", field: "args[0]", says: "is changed by argv", mutate: func(s *clispec.Spec) {
			s.Transports = []clispec.Transport{clispec.TransportArgv}
			s.Args = []clispec.ArgRow{row(clispec.When{}, "--ask={prompt:json}")}
		}},
		"option without its value":          {check: "options", field: "args[0]", says: `"effortmark" is in no argument`, mutate: add(row(set("effort"), "--think", "hard"))},
		"list with only one element passed": {check: "options", field: "args[0]", says: "uses permission_mode with", mutate: add(row(set("permission_mode"), "--plan"))},
		"line rule that is too wide": {check: "wordings", field: "lines[0]", says: "is classified as exit", mutate: func(s *clispec.Spec) {
			s.Lines = append([]clispec.LineRule{{Pattern: "(?i)too many", Reason: clichain.ReasonExit}}, s.Lines...)
		}},
		"failure without text": {check: "wordings", field: "events[0].set", says: "set message, code or status", mutate: func(s *clispec.Spec) {
			s.Events = append([]clispec.EventRule{rule(clichain.EventError, nil, "event", "oops")}, s.Events...)
		}},
		"status that another rule matches": {check: "wordings", field: "events[0].set.status", says: "status 400 is classified as", mutate: func(s *clispec.Spec) {
			s.Events = append([]clispec.EventRule{rule(clichain.EventError, map[string]string{"status": "status", "message": "=the plan's usage limit reached"}, "event", "oops")}, s.Events...)
		}},
		"failure that is also a result": {check: "exit_zero", field: "events[0]", says: "add last: true", mutate: func(s *clispec.Spec) {
			end := rule(clichain.EventResult, nil, "event", "oops|end")
			end.Terminal = true
			s.Events = append([]clispec.EventRule{rule(clichain.EventError, map[string]string{"message": "text"}, "event", "oops"), end}, s.Events...)
		}},
		"first event is terminal": {check: "cut_short", field: "events[0]", says: "counts as complete", mutate: func(s *clispec.Spec) {
			end := rule(clichain.EventResult, nil, "event", "hello")
			end.Terminal = true
			s.Events = append([]clispec.EventRule{end}, s.Events...)
		}},
		"system text in an argument":     {check: "secrets", field: "args[0]", says: "the system text is in args[", mutate: add(row(set("system"), "--role", "{system}"))},
		"error that contains the prompt": {check: "secrets", field: "lines", says: "appears in the error", complete: tells},
		"canceled call that leaves a process": {check: "cancel", field: "binary", says: "processes remain",
			complete: leaves(func(_ clichain.Config, ctx context.Context) bool { return ctx.Done() != nil })},
		"timed-out call that leaves a process": {check: "timeout", field: "binary", says: "processes remain",
			complete: leaves(func(cfg clichain.Config, _ context.Context) bool { return cfg.Timeout < within })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait more than they compute
			spec := lumen(t)
			spec.Transports = []clispec.Transport{clispec.TransportStdin} // halves the number of processes
			if test.mutate != nil {
				test.mutate(&spec)
			}
			s := &subject{spec: spec, complete: clichain.Backend.Complete}
			if test.complete != nil {
				s.complete = test.complete
			}
			found := map[string][]problem{}
			s.check(func(c check) bool {
				if list := c.find(s, t); len(list) > 0 {
					found[c.name] = list
				}
				return len(found[c.name]) == 0
			})
			require.Len(t, found, 1, "%v", found)
			require.NotEmpty(t, found[test.check], "%v", found)
			p := found[test.check][0]
			require.Equal(t, test.field, p.field, "%v", found)
			require.Contains(t, p.String(), test.says)
		})
	}
}

// Each option of a request needs a trial, so that new options are not forgotten.
func TestTrialsCoverOptions(t *testing.T) {
	t.Parallel()
	spec := specs.Claude()
	s, tried := &subject{spec: spec}, map[string]bool{}
	for _, trial := range s.trials(call.AccessRead) {
		req := withAccess(call.AccessRead)
		trial.set(&req)
		text, err := json.Marshal(req.Options)
		require.NoError(t, err)
		var set map[string]any
		require.NoError(t, json.Unmarshal(text, &set))
		for name := range set {
			tried[name] = true
		}
		tried[trial.field] = true
	}
	for _, field := range clispec.OptionFields {
		require.True(t, tried[field], field)
	}
	for _, name := range optionNames(t) {
		require.True(t, tried[name], name)
	}
}

// optionNames returns the JSON names of the options, as the source declares them.
func optionNames(t *testing.T) (names []string) {
	t.Helper()
	source, err := os.ReadFile("../call/call.go")
	require.NoError(t, err)
	_, options, ok := strings.Cut(string(source), "type Options struct {")
	require.True(t, ok)
	options, _, _ = strings.Cut(options, "\n}")
	for _, tag := range strings.Split(options, "`json:\"")[1:] {
		name, _, _ := strings.Cut(tag, ",")
		names = append(names, name)
	}
	require.Greater(t, len(names), 15)
	return names
}
