package compose

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// composers returns the composers of the built-in specs, compiled once.
func composers(t testing.TB) (all []*Composer) {
	for _, spec := range specs.Every() {
		all = append(all, composerOf(t, spec))
	}
	return all
}

func FuzzCompose(f *testing.F) {
	f.Add("Hello", "", "", "", "", "", uint8(0))
	f.Add("--help me", "Be brief.", "opus", "claude.MQ", "high", "Read", uint8(7))
	f.Add("/clear", "-x", "--model", "claude.LS14", "-e", "-t", uint8(13))
	f.Add("a\x00b", "\xff", "m\x00", ":", "\xc3", "", uint8(255))
	f.Add(strings.Repeat("x", 131_072), "{prompt}", "gpt-5", "codex.e3Byb21wdH0", "{system:json}", "{}", uint8(2))
	all, list := composers(f), specs.Every()
	f.Fuzz(func(t *testing.T, prompt, sys, model, session, effort, tool string, bits uint8) {
		req := call.Request{
			Messages: []call.Message{system(sys), user(prompt)}, Model: model, Session: session,
			Access: call.Access(bits % 4), Options: call.Options{Effort: effort},
		}
		if tool != "" {
			req.Options.AllowedTools = []string{tool}
		}
		texts := []string{prompt, sys, model, session, effort, tool}
		bad := slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsRune(s, 0) || !utf8.ValidString(s) })
		err := Check(req)
		if bad && err == nil {
			t.Fatalf("NUL or invalid UTF-8 passes: %q", texts)
		}
		if err != nil {
			requireOneLine(t, err.Error())
			return
		}
		choice := Choice{Transport: allTransports[bits>>2%2], Output: allOutputs[bits>>3%3]}
		for i, composer := range all {
			inv, err := composer.Compose(req, choice, testHost())
			if err != nil {
				requireOneLine(t, err.Error())
				continue
			}
			requireSane(t, list[i], inv, prompt, sys)
		}
	})
}

// requireSane checks the invariants of every invocation.
func requireSane(t *testing.T, spec clispec.Spec, inv *Invocation, prompt, sys string) {
	t.Helper()
	for i, arg := range inv.Args {
		if strings.ContainsRune(arg, 0) || !utf8.ValidString(arg) || len(arg) > 131_071 {
			t.Fatalf("%s: no argument: %q", spec.Name, arg)
		}
		fromRequest := !slices.ContainsFunc(spec.Args, func(row clispec.ArgRow) bool { return slices.Contains(row.Args, arg) })
		flag, _, _ := strings.Cut(arg, "=")
		known := slices.ContainsFunc(spec.Args, func(row clispec.ArgRow) bool {
			return slices.ContainsFunc(row.Args, func(a string) bool { return strings.HasPrefix(a, flag+"=") })
		})
		if fromRequest && !known && strings.HasPrefix(arg, "-") && !slices.Contains(inv.Args[:i], "--") {
			t.Fatalf("%s: %q looks like a flag in %q", spec.Name, arg, inv.Args)
		}
	}
	for _, kv := range inv.Env {
		if strings.ContainsRune(kv, 0) || len(kv) > 131_071 {
			t.Fatalf("%s: no variable: %q", spec.Name, kv)
		}
	}
	all := string(inv.Stdin) + strings.Join(inv.Args, "\x00")
	if !strings.Contains(all, prompt) {
		t.Fatalf("%s: the prompt %q is lost", spec.Name, prompt)
	}
	for _, f := range inv.Files {
		all += f.Content
	}
	data, _ := json.Marshal(sys)
	if !strings.Contains(all, sys) && !strings.Contains(all, string(data)) {
		t.Fatalf("%s: the system text %q is lost", spec.Name, sys)
	}
	if spec.Name != "cursor-agent" && inv.Call.Transport == clispec.TransportStdin && !strings.HasSuffix(string(inv.Stdin), prompt) {
		t.Fatalf("%s: stdin is %q", spec.Name, inv.Stdin)
	}
}

func FuzzModel(f *testing.F) {
	for _, seed := range []string{"", "default", "opus", " claude/opus ", "anthropic-cli/", "opencode/openai/gpt-5", "/", "a/b", "unknown", "claude-desktop", "-x", "gpt-5"} {
		f.Add(seed)
	}
	all, list := composers(f), specs.Every()
	f.Fuzz(func(t *testing.T, name string) {
		for i, composer := range all {
			resolved, ok := composer.Models.Resolve(name)
			again, okAgain := composer.Models.Resolve(strings.TrimSpace(name))
			if resolved != again || ok != okAgain {
				t.Fatalf("%s: blanks around %q matter", list[i].Name, name)
			}
			if !ok {
				continue
			}
			if resolved != strings.TrimSpace(resolved) && !strings.Contains(name, "/") {
				t.Fatalf("%s: %q becomes %q", list[i].Name, name, resolved)
			}
			if resolved == list[i].DefaultModel || resolved == "default" || resolved == "unknown" {
				t.Fatalf("%s: %q becomes %q, which no CLI knows", list[i].Name, name, resolved)
			}
			if !strings.HasSuffix(strings.TrimSpace(name), resolved) {
				t.Fatalf("%s: %q becomes %q, and it has no aliases", list[i].Name, name, resolved)
			}
		}
	})
}
