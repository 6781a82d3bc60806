package compose

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// A replacing text and an appended text use separate fields if the CLI has both, otherwise they are joined. No text is
// lost or duplicated.
func TestSystemTexts(t *testing.T) {
	simple := clispec.Spec{Name: "simple", Binary: "simple", SystemFlag: "--system"}
	bare := clispec.Spec{Name: "bare", Binary: "bare"}
	adds := clispec.Spec{Name: "adds", Binary: "adds", Args: []clispec.ArgRow{
		{Args: []string{"--add", "{system_append}"}, When: clispec.When{Set: []string{"system_append"}}}, {Args: []string{"{prompt}"}},
	}}
	const both = "Be brief.\n\nCount beetles."
	for name, test := range map[string]struct {
		spec    clispec.Spec
		mode    call.SystemMode
		access  call.Access
		replace string // the field that replaces, followed by the appended text
		append  string
		prompt  string
	}{
		"claude, both":                 {specs.Claude(), call.SystemReplace, call.AccessRead, "Be brief.", "Count beetles.", "hi"},
		"claude, added":                {specs.Claude(), call.SystemAppend, call.AccessRead, "", both, "hi"},
		"claude, without access":       {specs.Claude(), "", call.AccessNone, "Be brief.", "Count beetles.", "hi"},
		"codex, both in one":           {specs.Codex(), call.SystemReplace, call.AccessRead, both, "", "hi"},
		"codex, added":                 {specs.Codex(), call.SystemAppend, call.AccessRead, "", both, "SYSTEM: " + both + "\n\nhi"},
		"gemini, both in one":          {specs.Gemini(), call.SystemReplace, call.AccessRead, both, "", "hi"},
		"gemini, added":                {specs.Gemini(), call.SystemAppend, call.AccessRead, "", both, "SYSTEM: " + both + "\n\nhi"},
		"opencode, both in one":        {specs.OpenCode(), call.SystemReplace, call.AccessRead, both, "", "hi"},
		"one flag":                     {simple, "", call.AccessNone, both, "", "hi"},
		"no flag":                      {bare, "", call.AccessNone, both, "", "SYSTEM: " + both + "\n\nhi"},
		"flag that only appends":       {adds, "", call.AccessNone, "Be brief.", "Count beetles.", "SYSTEM: Be brief.\n\nhi"},
		"flag that appends both texts": {adds, call.SystemAppend, call.AccessNone, "", both, "hi"},
	} {
		t.Run(name, func(t *testing.T) {
			req := call.Request{Access: test.access, Messages: []call.Message{{Role: call.RoleSystem, Content: "Be brief."}, {Role: call.RoleUser, Content: "hi"}}}
			req.Options.SystemMode, req.Options.AppendSystem = test.mode, "Count beetles."
			c, err := composerOf(t, test.spec).newCall(req, Choice{}, testHost())
			require.Nil(t, err)
			require.Equal(t, test.replace, c.Fields.Expand("{system_replace}"))
			require.Equal(t, test.append, c.Fields.Expand("{system_append}"))
			require.Equal(t, test.prompt, c.Fields.Expand("{prompt}"))
			require.Equal(t, both, c.Fields.Expand("{system}"))
		})
	}
}

// Without access, the appended text follows the default text of the spec.
func TestAppendedTextFollowsSpecDefault(t *testing.T) {
	req := call.Prompt("hi")
	req.Options.AppendSystem = "Count beetles."
	c, err := composerOf(t, specs.Gemini()).newCall(req, Choice{}, testHost())
	require.Nil(t, err)
	require.Equal(t, "You are a helpful assistant.\n\nCount beetles.", c.Fields.Expand("{system_replace}"))
	c, err = composerOf(t, specs.Claude()).newCall(req, Choice{}, testHost())
	require.Nil(t, err)
	require.Equal(t, "You are a helpful assistant.", c.Fields.Expand("{system_default}{system_replace}"))
	require.Equal(t, "Count beetles.", c.Fields.Expand("{system_append}"))

	req.Options.SystemMode = call.SystemReplace
	_, err = composerOf(t, clispec.Spec{Name: "bare", Binary: "bare"}).newCall(req, Choice{}, testHost())
	require.ErrorIs(t, err, call.ErrUnsupported)
}

// The default text of the spec uses the rows for it alone, because it is no secret. A text of the caller is never an
// argument of a CLI that accepts a file.
func TestSpecDefaultNeedsNoFile(t *testing.T) {
	for _, test := range []struct {
		name            string
		spec            clispec.Spec
		messages        []call.Message
		added           string
		mode            call.SystemMode
		args, otherArgs string
		files           []string
	}{
		{"claude", specs.Claude(), nil, "", "", "You are a helpful assistant.", "--system-prompt-file", nil},
		{"claude, with an appended text", specs.Claude(), nil, "Count beetles.", "", "You are a helpful assistant.", "Count", []string{"Count beetles."}},
		{"claude, another text", specs.Claude(), []call.Message{{Role: call.RoleSystem, Content: "Be brief."}}, "", "", "--system-prompt-file", "Be brief.", []string{"Be brief."}},
		{"claude, default text", specs.Claude(), nil, "", call.SystemAppend, "-p", "--system-prompt", nil},
		{"codex", specs.Codex(), nil, "", "", "model_instructions_file", "You are a helpful assistant.", []string{"You are a helpful assistant."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := call.Request{Messages: append(test.messages, call.Message{Role: call.RoleUser, Content: "hi"})}
			req.Options.AppendSystem, req.Options.SystemMode = test.added, test.mode
			inv, err := composerOf(t, test.spec).Compose(req, Choice{}, testHost())
			require.Nil(t, err)
			require.Contains(t, strings.Join(inv.Args, " "), test.args)
			require.NotContains(t, strings.Join(inv.Args, " "), test.otherArgs)
			var files []string
			for _, f := range inv.Files {
				files = append(files, f.Content)
			}
			require.Equal(t, test.files, files)
			require.Equal(t, files == nil, inv.Temp == "")
		})
	}
}
