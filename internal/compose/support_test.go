package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// With access read, a list of allowed tools narrows what reads, and nothing else.
// An option that has no effect says where it has one.
func TestOptionsByAccess(t *testing.T) {
	own := clispec.Spec{Name: "own", Binary: "own", Args: []clispec.ArgRow{
		{Args: []string{"--tools={allowed_tools}"}, When: clispec.When{Set: []string{"allowed_tools"}, Access: []call.Access{call.AccessRead}}},
		{Args: []string{"--effort={effort}"}, When: clispec.When{Set: []string{"effort"}, Access: []call.Access{call.AccessFull}}},
		{Args: []string{"{prompt}"}},
	}}
	tools := func(list ...string) call.Options { return call.Options{AllowedTools: list} }
	for name, test := range map[string]struct {
		spec    clispec.Spec
		access  call.Access
		options call.Options
		want    string // "": it is honoured
	}{
		"some that read":     {specs.Claude(), call.AccessRead, tools("Grep"), ""},
		"all that read":      {specs.Gemini(), call.AccessRead, tools(specs.Gemini().ReadTools...), ""},
		"one that writes":    {specs.Claude(), call.AccessRead, tools("Read", "Write"), `"Write" is no tool that only reads: with access read the list may have Read, Grep, Glob`},
		"a rule":             {specs.Claude(), call.AccessRead, tools("Read(/etc/**)"), `"Read(/etc/**)" is no tool that only reads`},
		"everything":         {specs.Gemini(), call.AccessRead, tools("*"), `"*" is no tool that only reads`},
		"of another case":    {specs.Claude(), call.AccessRead, tools("read"), `"read" is no tool that only reads`},
		"none is known":      {own, call.AccessRead, tools("view"), `"view" is no tool that only reads: with access read the list may have none`},
		"of no access":       {specs.Claude(), call.AccessNone, tools("Read"), `"Read" cannot be honoured by this backend with access none, only with read or write or full`},
		"servers":            {specs.Codex(), call.AccessWrite, call.Options{MCPConfig: goldenMCP()}, "cannot be honoured by this backend with access write, only with full"},
		"of this level only": {specs.Codex(), call.AccessRead, call.Options{AddDirs: []string{"/a"}}, `"/a" cannot be honoured by this backend with access read, only with write`},
		"at no level":        {specs.Codex(), call.AccessRead, call.Options{MaxTurns: 2}, `"2" cannot be honoured by this backend here`},
	} {
		t.Run(name, func(t *testing.T) {
			req := call.Prompt("hi")
			req.Access, req.Options = test.access, test.options
			_, err := composerOf(t, test.spec).Compose(req, Choice{}, testHost())
			if test.want == "" {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			require.Equal(t, call.ReasonUnsupported, err.Reason)
			require.Contains(t, err.Message, test.want)
		})
	}
}
