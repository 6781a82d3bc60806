package compose

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/permit"
	"github.com/clichain/clichain/specs"
)

// ceilings returns permissions of operators: none, read, and write with one value of each kind. All of them allow only
// dir.
func ceilings(dir string) []permit.Permissions {
	return []permit.Permissions{
		{},
		{Access: call.AccessRead, Dirs: []string{dir}},
		{
			Access: call.AccessWrite, Dirs: []string{dir}, Env: []string{"APP_*"}, Tools: []string{"Read"}, Modes: []string{"plan"},
			Extra: map[string][]string{"claude": {"--chrome"}, "codex": {"--oss"}}, Sessions: true,
		},
		{Access: call.AccessFull, Dirs: []string{dir}, MCP: true, Agents: true},
	}
}

// below returns the part of a request that a ceiling allows. It does not use the rules of package permit.
func below(p permit.Permissions, folder string, req call.Request) call.Request {
	req.Access = min(req.Access, p.Access)
	inFolder := func(path string) bool {
		return len(p.Dirs) > 0 && (path == folder || strings.HasPrefix(path, folder+string(filepath.Separator)))
	}
	if !inFolder(req.Dir) {
		req.Dir = ""
	}
	o := &req.Options
	o.AddDirs = kept(o.AddDirs, inFolder)
	o.Images = kept(o.Images, inFolder)
	o.AllowedTools = kept(o.AllowedTools, func(tool string) bool { return slices.Contains(p.Tools, tool) })
	if !slices.Contains(p.Modes, o.PermissionMode) {
		o.PermissionMode = ""
	}
	extra := map[string][]string{}
	for backend, args := range o.Extra {
		extra[backend] = kept(args, func(arg string) bool { return slices.Contains(p.Extra[backend], arg) })
	}
	o.Extra = extra
	if !p.MCP {
		o.MCPConfig = nil
	}
	if !p.Agents {
		o.Agents = nil
	}
	if !p.Sessions {
		req.Session, o.SessionID, o.Continue = "", "", false
	}
	req.Env = maps.Clone(req.Env)
	maps.DeleteFunc(req.Env, func(name, _ string) bool { return p.Env == nil || !strings.HasPrefix(name, "APP_") })
	return req
}

func kept(list []string, keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !keep(s) })
}

// marked returns the request with other texts of the same length and the same start. If nothing else differs, only
// these texts can distinguish the two invocations.
func marked(req call.Request) call.Request {
	req.Messages = slices.Clone(req.Messages)
	for i := range req.Messages {
		req.Messages[i].Content = markOf(req.Messages[i].Content)
	}
	req.Options.AppendSystem = markOf(req.Options.AppendSystem)
	return req
}

const mark = "ZQ"

func markOf(text string) string {
	if strings.TrimSpace(text) != text || len(text) < 4 {
		return text
	}
	_, first := utf8.DecodeRuneInString(text)
	if len(text)-first < len(mark) {
		return text
	}
	return text[:first] + strings.Repeat(mark, len(text))[:len(text)-first]
}

// FuzzCeiling checks that each CLI runs an accepted request exactly like the part of it that the operator allows: with
// no other argument, variable or file.
func FuzzCeiling(f *testing.F) {
	folder, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Add("Hello", "", "", "", "", "", "", "", "", "", "", "", "", uint16(0))
	f.Add("Hello", "", "", "", "", "", "", "claude", "--tools=Bash", "", "", "", "", uint16(0))
	f.Add("Hello", "", "", "", "", "", "", "codex", "-c", "", "", "", "", uint16(0))
	f.Add("Hello", "", "", "", "", "", "", "", "", "SANDBOX", "x", "", "", uint16(0))
	f.Add("Hello", "", "", "", "", "", "/", "", "", "", "", "", "", uint16(3))
	f.Add("Hello", "", "", "", "", "", "", "", "", "", "", "", "", uint16(0x0c)) // full access although no access is allowed
	f.Add("Hello", "", "", "", "", "", "", "", "", "", "", "", "", uint16(0x0d)) // full access although only reading is allowed
	f.Add("--x", "-y", "opus", "claude.MQ", "high", "Read", folder, "claude", "--chrome", "APP_ID", "7", "plan", "-z", uint16(0x2a))
	f.Add("{prompt}", "{system:json}", "gpt-5", "codex:1", "low", "Bash", folder+"/a", "codex", "--oss", "APP_", "a=b", "full", "${x}", uint16(0x1f3))
	all := composers(f)
	f.Fuzz(func(t *testing.T, prompt, sys, model, session, effort, tool, dir, backend, arg, name, value, mode, more string, bits uint16) {
		p := ceilings(folder)[bits%4]
		req := call.Request{
			Messages: []call.Message{system(sys), user(prompt)}, Model: model, Session: session, Access: call.Access(bits >> 2 % 4), Dir: dir,
			Options: call.Options{Effort: effort, PermissionMode: mode, AppendSystem: more, Continue: bits&0x40 != 0, StrictMCP: bits&0x80 != 0},
		}
		setIf(&req.Options.AllowedTools, tool)
		setIf(&req.Options.DisallowedTools, more)
		if backend != "" {
			req.Options.Extra = map[string][]string{backend: {arg}}
		}
		if name != "" {
			req.Env = map[string]string{name: value}
		}
		if bits&0x100 != 0 {
			req.Options.MCPConfig = []json.RawMessage{[]byte(`{"mcpServers":{"a":{"command":"b"}}}`)}
		}
		if bits&0x200 != 0 {
			req.Options.Agents = json.RawMessage(`{"a":{"description":"b","prompt":"c"}}`)
		}
		if bits&0x400 != 0 {
			setIf(&req.Options.AddDirs, dir)
		}
		allowed, err := p.Apply(req)
		if err != nil {
			requireOneLine(t, err.Error())
			return
		}
		if err := Check(allowed); err != nil {
			requireOneLine(t, err.Error())
			return
		}
		h := testHost()
		// The Config allows every variable, so that only Permissions decides.
		h.RequestEnv, h.Dir, h.RealDir = []string{"*"}, allowed.Dir, allowed.Dir
		choice := Choice{Transport: allTransports[bits>>11%2], Output: allOutputs[bits>>12%3]}
		same := marked(below(p, folder, allowed))
		for i, composer := range all {
			got, err := composer.Compose(allowed, choice, h)
			if err != nil {
				continue
			}
			h.RealDir, h.Dir = same.Dir, same.Dir
			want, err := composer.Compose(same, choice, h)
			if err != nil {
				t.Fatalf("%s: what is allowed is refused: %v", specs.Every()[i].Name, err)
			}
			requireLike(t, specs.Every()[i].Name+": argument", want.Args, got.Args)
			requireLike(t, specs.Every()[i].Name+": variable", want.Env, got.Env)
			requireLike(t, specs.Every()[i].Name+": file", filesOf(want), filesOf(got))
		}
	})
}

func setIf(list *[]string, text string) {
	if text != "" {
		*list = []string{text}
	}
}

func filesOf(inv *Invocation) (texts []string) {
	for _, f := range inv.Files {
		texts = append(texts, f.Path+"\n"+f.Content)
	}
	return texts
}

// requireLike checks that two lists differ only after a mark.
func requireLike(t *testing.T, what string, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: %q, and allowed is %q", what, got, want)
	}
	for i, text := range got {
		before, _, free := strings.Cut(want[i], mark)
		if text != want[i] && (!free || !strings.HasPrefix(text, before)) {
			t.Fatalf("%s: %q, and allowed is %q", what, text, want[i])
		}
	}
}
