package clichain_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

// interpreters are the built-in specs, compiled once.
func interpreters(t testing.TB) (all []*interpreter) {
	for _, spec := range specs.All() {
		all = append(all, interpreterOf(t, spec))
	}
	return all
}

// addRecorded seeds a fuzz test with what the real CLIs have printed.
func addRecorded(f *testing.F, name string, add func(text string)) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*", "*", name))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		add(string(data))
	}
}

func FuzzRules(f *testing.F) {
	addRecorded(f, "stdout", func(text string) {
		for line := range strings.Lines(text) {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	})
	for _, seed := range []string{"", "{}", `{"type":null}`, `{"type":7,"message":{"content":[[]]}}`, `{"type":"result"}{"type":"result"}`, strings.Repeat("[", 500), "{\"type\":\"a\x1b[1mb\"}", "\f{}", "\x1b[m\ufeff{}"} {
		f.Add(seed)
	}
	all := interpreters(f)
	f.Fuzz(func(t *testing.T, line string) {
		isJSON := func(text string) bool { return json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) }
		valid := isJSON(line) || isJSON(clichain.PlainText(line)) // colours are left out
		for i, engine := range all {
			events, ok := engine.events(line)
			if ok && !valid || !ok && len(events) > 0 {
				t.Fatalf("%d acts on what is no JSON: %q: %v", i, line, events)
			}
		}
		for _, object := range clichain.DocumentObjects(line) {
			if !json.Valid([]byte(object)) {
				t.Fatalf("%q is no JSON in %q", object, line)
			}
		}
	})
}

func FuzzJudgeText(f *testing.F) {
	addRecorded(f, "stderr", func(text string) { f.Add(text[:min(len(text), 500)], 429) })
	for _, text := range scary {
		f.Add(text, 500)
	}
	f.Add("} {", 0)
	f.Add("usage limit reached|99999999999999", -1)
	f.Add(`{"error":{"message":"{"}}`, 200)
	all, reasons := interpreters(f), clichain.PolicyReasons()
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string, status int) {
		for _, engine := range all {
			got, ok := engine.judgeText(clichain.OnStderr, text, now)
			if ok != slices.Contains(reasons, got.Reason) {
				t.Fatalf("%q: %v %+v", text, ok, got)
			}
			got, ok = engine.judgeEvent(clichain.Event{Kind: clichain.EventError, Message: text, Status: status}, now)
			if ok != slices.Contains(reasons, got.Reason) {
				t.Fatalf("%q %d: %v %+v", text, status, ok, got)
			}
		}
		err := &clichain.BackendError{Backend: "c", Reason: clichain.ReasonExit, ExitCode: 1, Stderr: text, Hint: text}
		requireOneLine(t, err.Error())
	})
}

// composers are the composers of the built-in specs, compiled once.
func composers(t testing.TB) (all []*clichain.Composer) {
	for _, spec := range specs.All() {
		all = append(all, composerOf(t, spec))
	}
	return all
}

func FuzzCompose(f *testing.F) {
	f.Add("Hello", "", "", "", "", "", uint8(0))
	f.Add("--help me", "Be brief.", "opus", "claude:1", "high", "Read", uint8(7))
	f.Add("/clear", "-x", "--model", "claude:--x", "-e", "-t", uint8(13))
	f.Add("a\x00b", "\xff", "m\x00", ":", "\xc3", "", uint8(255))
	f.Add(strings.Repeat("x", 131_072), "{prompt}", "gpt-5", "codex:{prompt}", "{system:json}", "{}", uint8(2))
	all, list := composers(f), specs.All()
	f.Fuzz(func(t *testing.T, prompt, sys, model, session, effort, tool string, bits uint8) {
		req := clichain.Request{
			Messages: []clichain.Message{system(sys), user(prompt)}, Model: model, Session: session,
			Access: clichain.Access(bits % 4), Options: clichain.Options{Effort: effort},
		}
		if tool != "" {
			req.Options.AllowedTools = []string{tool}
		}
		texts := []string{prompt, sys, model, session, effort, tool}
		bad := slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsRune(s, 0) || !utf8.ValidString(s) })
		err := clichain.CheckRequest(req)
		if bad && err == nil {
			t.Fatalf("NUL or invalid UTF-8 passes: %q", texts)
		}
		if err != nil {
			requireOneLine(t, err.Error())
			return
		}
		wish := clichain.Choice{Transport: allTransports[bits>>2%2], Output: allOutputs[bits>>3%3]}
		for i, composer := range all {
			inv, err := composer.Compose(req, wish, testHost())
			if err != nil {
				requireOneLine(t, err.Error())
				continue
			}
			requireSane(t, list[i], inv, prompt, sys)
		}
	})
}

// requireSane checks what must hold for every invocation.
func requireSane(t *testing.T, spec clichain.CliSpec, inv *clichain.Invocation, prompt, sys string) {
	t.Helper()
	for i, arg := range inv.Args {
		if strings.ContainsRune(arg, 0) || !utf8.ValidString(arg) || len(arg) > 131_071 {
			t.Fatalf("%s: no argument: %q", spec.Name, arg)
		}
		fromRequest := !slices.ContainsFunc(spec.Args, func(row clichain.ArgRow) bool { return slices.Contains(row.Args, arg) })
		flag, _, _ := strings.Cut(arg, "=")
		known := slices.ContainsFunc(spec.Args, func(row clichain.ArgRow) bool {
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
	if spec.Name != "cursor-agent" && inv.Call.Transport == clichain.TransportStdin && !strings.HasSuffix(string(inv.Stdin), prompt) {
		t.Fatalf("%s: stdin is %q", spec.Name, inv.Stdin)
	}
}

func FuzzSuppress(f *testing.F) {
	for _, seed := range []string{"1", "TRUE", " yes ", "claude,gemini", "0", "", "all,claude", "on;", "cursor-agent\n"} {
		f.Add(seed, "claude")
	}
	f.Fuzz(func(t *testing.T, value, name string) {
		if strings.ContainsRune(value, 0) {
			t.Skip("no value of a variable")
		}
		suppressNothing(t)
		t.Setenv("SKIP_CLI", value)
		_, named := clichain.SuppressedBy(name)
		all := clichain.Suppressed()
		if all && !named {
			t.Fatalf("%q turns off everything but %q", value, name)
		}
		trimmed := strings.ToLower(strings.Trim(value, ",; \t\r\n"))
		if want := slices.Contains([]string{"1", "true", "yes", "on", "all"}, trimmed); want != all {
			t.Fatalf("%q: all %v", value, all)
		}
		if named && !all && (name == "" || !strings.Contains(strings.ToLower(value), strings.ToLower(name))) {
			t.Fatalf("%q turns off %q", value, name)
		}
	})
}

func FuzzModel(f *testing.F) {
	for _, seed := range []string{"", "default", "opus", " claude/opus ", "anthropic-cli/", "opencode/openai/gpt-5", "/", "a/b", "unknown", "claude-desktop", "-x", "gpt-5"} {
		f.Add(seed)
	}
	all, list := composers(f), specs.All()
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
