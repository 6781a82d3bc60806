package compose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

var alive = Choice{Output: clispec.OutputLive}

// promptPaths maps each built-in CLI to the path of the prompt in its message.
var promptPaths = map[string]string{
	"claude": "message.content", "gemini": "prompt.0.text", "opencode": "prompt.0.text", "codex": "input.0.text",
	"qwen": "prompt.0.text",
}

// inLiveModes runs a test for each built-in spec with a live mode, at each access level that the mode supports.
func inLiveModes(t *testing.T, test func(t *testing.T, spec clispec.Spec, access call.Access)) {
	t.Helper()
	var names []string
	for _, spec := range specs.Every() {
		if !spec.Live.Has() {
			continue
		}
		names = append(names, spec.Name)
		for _, access := range allAccess {
			if levels := spec.Live.When.Access; len(levels) == 0 || slices.Contains(levels, access) {
				t.Run(spec.Name+", "+access.String(), func(t *testing.T) { test(t, spec, access) })
			}
		}
	}
	require.ElementsMatch(t, []string{"claude", "gemini", "opencode", "codex", "qwen"}, names)
}

// asks returns a request that the live mode of the spec supports.
func asks(spec clispec.Spec, access call.Access, prompt string) call.Request {
	req := call.Prompt(prompt)
	req.Access = access
	if slices.Contains(spec.Live.When.Set, "model") {
		req.Model = "a/b"
	}
	return req
}

// live composes the invocation of a process that receives its prompt later.
func live(t *testing.T, spec clispec.Spec, req call.Request) *Invocation {
	t.Helper()
	inv, err := composerOf(t, spec).Compose(req, alive, testHost())
	require.Nil(t, err)
	return inv
}

// turn returns the message with the prompt, and its parameters.
func turn(t *testing.T, spec clispec.Spec, inv *Invocation) (clispec.LiveMessage, string) {
	t.Helper()
	m, params, ok := inv.Call.Message(spec.Live.Turn, map[string]string{"context": "c\"1", "turn": "t1"})
	require.True(t, ok)
	require.True(t, json.Valid(params), "%s", params)
	return m, string(params)
}

func TestLiveInvocationHasNoPrompt(t *testing.T) {
	inLiveModes(t, func(t *testing.T, spec clispec.Spec, access call.Access) {
		inv := live(t, spec, asks(spec, access, "the question"))
		require.Equal(t, clispec.OutputLive, inv.Call.Output)
		require.Equal(t, clispec.TransportStdin, inv.Call.Transport)
		require.Nil(t, inv.Stdin, "the messages go there")
		texts := slices.Concat(inv.Args, inv.Env)
		for _, file := range inv.Files {
			texts = append(texts, file.Content)
		}
		for _, text := range texts {
			require.NotContains(t, text, "the question")
		}
		same := live(t, spec, asks(spec, access, "another"))
		require.Equal(t, inv.Args, same.Args)
		require.Equal(t, inv.Env, same.Env)
		require.Equal(t, inv.Files, same.Files)
	})
}

func TestLivePromptIsExact(t *testing.T) {
	prompts := map[string]string{
		"plain": "Hello", "quotes": `"a" \ 'b' \n`, "lines": "a\nb\r\n\r\nc\td\n", "separators": "a\u2028b\u2029c", "unicode": "中 é \U0001F600",
		"markup": "<a href='x'>&amp;</a>", "fields": "{dir} {prompt:json} {context:text} {x}", "JSON": `{"sessionId":"x"},"prompt":[]`,
		"a flag": "--help", "blanks": "  a  ", "controls": "a\x1b[0m\x01b", "a command": "!ls", "a long one": strings.Repeat("a\n", 1<<12),
	}
	inLiveModes(t, func(t *testing.T, spec clispec.Spec, access call.Access) {
		composer := composerOf(t, spec)
		for name, prompt := range prompts {
			inv, err := composer.Compose(asks(spec, access, prompt), alive, testHost())
			require.Nil(t, err)
			_, params := turn(t, spec, inv)
			require.Equal(t, prompt, gjson.Get(params, promptPaths[spec.Name]).String(), name)
		}
	})
}

// A prompt that looks like a command of the CLI must remain a prompt.
func TestLivePromptIsGuarded(t *testing.T) {
	inLiveModes(t, func(t *testing.T, spec clispec.Spec, access call.Access) {
		inv := live(t, spec, asks(spec, access, "/clear"))
		_, params := turn(t, spec, inv)
		got := gjson.Get(params, promptPaths[spec.Name]).String()
		require.True(t, strings.HasSuffix(got, "/clear"))
		require.Equal(t, spec.Name == "codex", got == "/clear", "no commands in the live mode")
		if len(spec.Live.Clear) > 0 {
			_, clears, ok := inv.Call.Message(spec.Live.Clear, nil)
			require.True(t, ok)
			require.NotEqual(t, params, string(clears), "/clear would discard the context")
		}
	})
}

// The guards of the live mode replace those of a call only in the live mode.
func TestLiveModeGuards(t *testing.T) {
	guard := func(prefix string) []clispec.GuardRule {
		return []clispec.GuardRule{{Pattern: "^/", Prefix: prefix}}
	}
	for name, test := range map[string]struct {
		call, live         []clispec.GuardRule
		wantCall, wantLive string
	}{
		"none":                   {nil, nil, "/x", "/x"},
		"guard of a call":        {guard("a"), nil, "a/x", "a/x"},
		"guard of the live mode": {nil, guard("b"), "/x", "b/x"},
		"of both":                {guard("a"), guard("b"), "a/x", "b/x"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specs.Claude()
			spec.Guards, spec.Live.Guards = test.call, test.live
			for _, want := range []struct {
				choice Choice
				prompt string
			}{{Choice{}, test.wantCall}, {alive, test.wantLive}} {
				inv, err := composerOf(t, spec).Compose(call.Prompt("/x"), want.choice, testHost())
				require.Nil(t, err)
				require.Equal(t, want.prompt, inv.Call.Fields["prompt"][0])
			}
		})
	}
}

// Each message is valid JSON and contains the ids and the directory unchanged.
func TestLiveMessages(t *testing.T) {
	inLiveModes(t, func(t *testing.T, spec clispec.Spec, access call.Access) {
		req := asks(spec, access, "hi")
		h := testHost()
		h.Dir, h.RealDir = `/home/a "b"\c`, `/home/a "b"\c`
		h.Known = nil
		inv, err := composerOf(t, spec).Compose(req, alive, h)
		require.Nil(t, err)
		r, ids := &spec.Live, map[string]string{"context": `c"1`, "turn": `t"1`}
		for _, list := range [][]clispec.LiveMessage{r.Ready, r.Open, r.Opened, r.Turn, r.Interrupt, r.Clear, r.Close} {
			for i := range list {
				m, params, ok := inv.Call.Message(list[i:i+1], ids)
				if !ok || m.Params == "" {
					require.Nil(t, params)
					continue
				}
				require.True(t, json.Valid(params), "%s: %s", m.Method, params)
				for field, want := range map[string]string{"cwd": h.RealDir, "sessionId": ids["context"], "threadId": ids["context"], "turnId": ids["turn"]} {
					if got := gjson.GetBytes(params, field); got.Exists() {
						require.Equal(t, want, got.String(), m.Method)
					}
				}
			}
		}
	})
}

// The first message whose condition holds is sent. A list may contain none.
func TestMessageChoosesFirstMatch(t *testing.T) {
	list := []clispec.LiveMessage{
		{Method: "with", Params: `{"m":{model:json}}`, When: clispec.When{Set: []string{"model"}}},
		{Method: "full", When: clispec.When{Access: []call.Access{call.AccessFull}}},
		{Method: "any", Params: `{"c":{context:json}}`, When: clispec.When{Access: []call.Access{call.AccessNone}}},
	}
	for name, test := range map[string]struct {
		call           Call
		method, params string
	}{
		"the first":       {Call{Fields: Fields{"model": {"m"}}, Access: call.AccessFull}, "with", `{"m":"m"}`},
		"no parameters":   {Call{Fields: Fields{}, Access: call.AccessFull}, "full", ""},
		"the last":        {Call{Fields: Fields{}}, "any", `{"c":"c1"}`},
		"none":            {Call{Fields: Fields{}, Access: call.AccessRead}, "", ""},
		"its own is kept": {Call{Fields: Fields{"context": {"mine"}}}, "any", `{"c":"c1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprint(test.call.Fields)
			m, params, ok := test.call.Message(list, map[string]string{"context": "c1"})
			require.Equal(t, test.method != "", ok)
			require.Equal(t, test.method, m.Method)
			require.Equal(t, test.params, string(params))
			require.Equal(t, test.params == "", params == nil)
			require.Equal(t, before, fmt.Sprint(test.call.Fields), "ids are of one message")
		})
	}
}

func TestLiveModeIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		spec   clispec.Spec
		access call.Access
	}{
		"codex would leave its sandbox":                {specs.Codex(), call.AccessRead},
		"cursor has no live mode":                      {specs.Cursor(), call.AccessNone},
		"cursor has no live mode at any level":         {specs.Cursor(), call.AccessFull},
		"opencode would choose a model":                {specs.OpenCode(), call.AccessNone},
		"opencode would choose a model with all tools": {specs.OpenCode(), call.AccessFull},
	} {
		t.Run(name, func(t *testing.T) {
			req := call.Prompt("hi")
			req.Access = test.access
			_, err := composerOf(t, test.spec).Compose(req, alive, testHost())
			require.ErrorIs(t, err, call.ErrUnsupported)
			require.Equal(t, "live", err.Option)
			require.Contains(t, err.Message, "with access "+test.access.String())
			_, err = composerOf(t, test.spec).Compose(req, Choice{}, testHost())
			require.Nil(t, err, "a call works")
		})
	}
}

// The live mode refuses an option that it has no message for, although a call supports it.
func TestLiveModeRefusesOptions(t *testing.T) {
	const id = "0199abcd-0000-7000-8000-000000000001"
	image := call.Request{Options: call.Options{Images: []string{"/a.png"}}}
	for name, test := range map[string]struct {
		spec   clispec.Spec
		access call.Access
		set    call.Request
		option string // "" if the live mode supports the option
	}{
		"codex: images":                  {specs.Codex(), call.AccessNone, image, "images"},
		"codex: a session":               {specs.Codex(), call.AccessNone, call.Request{Session: "codex:" + id}, ""},
		"codex: the last session":        {specs.Codex(), call.AccessWrite, call.Request{Options: call.Options{Continue: true}}, "continue"},
		"codex: directories":             {specs.Codex(), call.AccessWrite, call.Request{Options: call.Options{AddDirs: []string{"/b"}}}, "add_dirs"},
		"codex: a model":                 {specs.Codex(), call.AccessNone, call.Request{Model: "gpt-5"}, ""},
		"codex: an effort":               {specs.Codex(), call.AccessNone, call.Request{Options: call.Options{Effort: "high"}}, ""},
		"codex: servers":                 {specs.Codex(), call.AccessFull, call.Request{Options: call.Options{MCPConfig: goldenMCP()}}, ""},
		"opencode: images":               {specs.OpenCode(), call.AccessNone, image, "images"},
		"opencode: a session":            {specs.OpenCode(), call.AccessWrite, call.Request{Session: "opencode:ses_1"}, ""},
		"opencode: the last session":     {specs.OpenCode(), call.AccessWrite, call.Request{Options: call.Options{Continue: true}}, "continue"},
		"opencode: a model":              {specs.OpenCode(), call.AccessNone, call.Request{Model: "a/b"}, ""},
		"opencode: servers":              {specs.OpenCode(), call.AccessWrite, call.Request{Options: call.Options{MCPConfig: goldenMCP()}}, ""},
		"claude: a model":                {specs.Claude(), call.AccessNone, call.Request{Model: "opus"}, ""},
		"gemini: a session":              {specs.Gemini(), call.AccessNone, call.Request{Session: "gemini:" + id}, "session"},
		"gemini: an id of a new session": {specs.Gemini(), call.AccessNone, call.Request{Options: call.Options{SessionID: id}}, "session_id"},
		"gemini: a model":                {specs.Gemini(), call.AccessNone, call.Request{Model: "gemini-2.5-pro"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := asks(test.spec, test.access, "hi")
			req.Model, req.Session, req.Options = cmp.Or(test.set.Model, req.Model), test.set.Session, test.set.Options
			_, err := composerOf(t, test.spec).Compose(req, Choice{}, testHost())
			require.Nil(t, err, "in a call")
			_, err = composerOf(t, test.spec).Compose(req, alive, testHost())
			if test.option == "" {
				require.Nil(t, err)
				return
			}
			require.ErrorIs(t, err, call.ErrUnsupported)
			require.Equal(t, test.option, err.Option)
		})
	}
}

// With codex, a schema belongs to a turn: it is not in the arguments of the process, and not in the prompt.
func TestLiveSchema(t *testing.T) {
	const schema = `{"type":"object","title":"a \"b\"\n"}`
	req := call.Prompt("hi")
	req.Schema = json.RawMessage(schema)
	with := live(t, specs.Codex(), req)
	_, params := turn(t, specs.Codex(), with)
	require.Equal(t, schema, gjson.Get(params, "outputSchema").Raw)
	require.Equal(t, "hi", gjson.Get(params, promptPaths["codex"]).String())

	req.Schema = nil
	without := live(t, specs.Codex(), req)
	require.Equal(t, without.Args, with.Args)
	require.Equal(t, without.Env, with.Env)
	require.Equal(t, without.Files, with.Files)
	_, params = turn(t, specs.Codex(), without)
	require.False(t, gjson.Get(params, "outputSchema").Exists())

	// The prompt contains the schema for a CLI that uses the Agent Client Protocol.
	req.Schema = json.RawMessage(schema)
	_, params = turn(t, specs.Gemini(), live(t, specs.Gemini(), req))
	require.Equal(t, "hi"+schemaPrompt+schema, gjson.Get(params, promptPaths["gemini"]).String())
}
