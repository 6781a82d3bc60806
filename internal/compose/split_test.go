package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// A row that joins a list by commas would split a value with a comma.
func TestListValueWithComma(t *testing.T) {
	const field = "add_dirs"
	given := clispec.When{Set: []string{field}}
	prompt := clispec.ArgRow{Args: []string{"-p", "{prompt}"}, When: clispec.When{Access: allAccess}}
	args := func(each string, templates ...string) clispec.Spec {
		row := clispec.ArgRow{Args: templates, Each: each, When: given}
		return clispec.Spec{Args: []clispec.ArgRow{prompt, row}}
	}
	for name, test := range map[string]struct {
		spec    clispec.Spec
		refused bool
	}{
		"joined":             {args("", "--dirs={add_dirs}"), true},
		"joined, as JSON":    {args("", "--dirs={add_dirs:json}"), true},
		"joined inside JSON": {args("", `{"dirs":"{add_dirs:text}"}`), true},
		"for each":           {args(field, "--dir={add_dirs}"), false},
		"a list":             {args("", "--dirs={add_dirs:list}"), false},
		"a variable": {clispec.Spec{Args: []clispec.ArgRow{prompt}, Env: []clispec.EnvRow{
			{Name: "DIRS", Value: "{add_dirs}", When: given}}}, true},
		"a file": {clispec.Spec{Args: []clispec.ArgRow{prompt, {Args: []string{"{dirs_file}"}, When: given}}, Files: []clispec.FileRow{
			{Field: "dirs", Name: "dirs", Content: "{add_dirs}", When: given}}}, true},
		"row that does not apply": {clispec.Spec{Args: []clispec.ArgRow{prompt,
			{Args: []string{"--dirs={add_dirs}"}, When: clispec.When{Set: []string{"model"}}},
			{Args: []string{"--dir={add_dirs}"}, Each: field, When: given}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			spec := test.spec
			spec.Name, spec.Binary = "some", "some"
			req := call.Prompt("Hello")
			req.Options.AddDirs = []string{"/data/a", "/data/b,/etc"}
			_, err := New(&spec, nil).Compose(req, Choice{}, testHost())
			if !test.refused {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			require.Equal(t, call.ReasonUnsupported, err.Reason)
			require.Equal(t, field, err.Option)
			require.Equal(t, `"/data/b,/etc" has a comma, so this CLI would read it as two values: use a name without a comma`, err.Message)
			req.Options.AddDirs[1] = "/data/b"
			_, err = New(&spec, nil).Compose(req, Choice{}, testHost())
			require.Nil(t, err)
		})
	}
}

// With the built-in specs, a value with a comma stays whole, or the request is refused.
func TestBuiltInSpecsKeepValuesWithComma(t *testing.T) {
	dirs := call.Options{AddDirs: []string{"/data/a,b"}}
	images := call.Options{Images: []string{"/data/a,b.png"}}
	for name, test := range map[string]struct {
		spec    clispec.Spec
		access  call.Access
		options call.Options
		want    string // an argument, or the name of the refused field
	}{
		"claude's directories":           {specs.Claude(), call.AccessRead, dirs, "--add-dir=/data/a,b"},
		"codex's directories":            {specs.Codex(), call.AccessWrite, dirs, "--add-dir=/data/a,b"},
		"gemini's directories":           {specs.Gemini(), call.AccessRead, dirs, "add_dirs"},
		"opencode's images":              {specs.OpenCode(), call.AccessRead, images, "--file=/data/a,b.png"},
		"codex's images":                 {specs.Codex(), call.AccessRead, images, "images"},
		"two tools in one":               {specs.Claude(), call.AccessWrite, call.Options{AllowedTools: []string{"Read,Bash"}}, "allowed_tools"},
		"two disallowed tools":           {specs.Claude(), call.AccessRead, call.Options{DisallowedTools: []string{"Read,Bash"}}, "disallowed_tools"},
		"comma after the rule of a tool": {specs.Claude(), call.AccessWrite, call.Options{AllowedTools: []string{"Bash(ls (a),b)"}}, "allowed_tools"},
		"open bracket":                   {specs.Claude(), call.AccessWrite, call.Options{AllowedTools: []string{"Bash(ls a,b"}}, "allowed_tools"},
		"comma in a rule":                {specs.Claude(), call.AccessWrite, call.Options{AllowedTools: []string{"Bash(ls a,b)", "Read"}}, "--allowedTools=Bash(ls a,b),Read"},
		"list of tools of gemini":        {specs.Gemini(), call.AccessWrite, call.Options{AllowedTools: []string{"a,b"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := call.Prompt("Hello")
			req.Access, req.Options = test.access, test.options
			inv, err := composerOf(t, test.spec).Compose(req, Choice{}, testHost())
			if err != nil {
				require.Equal(t, call.ReasonUnsupported, err.Reason)
				require.Equal(t, test.want, err.Option)
				return
			}
			if test.want != "" {
				require.Contains(t, inv.Args, test.want)
			}
		})
	}
}
