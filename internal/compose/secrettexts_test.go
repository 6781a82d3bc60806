package compose

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// Other users of the machine can see arguments. They must not contain a system text of the caller if the CLI reads the
// prompt from standard input.
func TestSystemTextStaysOutOfArguments(t *testing.T) {
	const secret = "zyzzyva"
	for _, spec := range specs.Every() {
		composer := composerOf(t, spec)
		modes := spec.OutputModes()
		if spec.Live.Has() {
			modes = append(modes, clispec.OutputLive)
		}
		for _, access := range allAccess {
			for _, mode := range []call.SystemMode{"", call.SystemAppend, call.SystemReplace} {
				for _, output := range modes {
					req := call.Request{Access: access, Messages: []call.Message{system(secret), user("hi")}}
					req.Options.SystemMode, req.Options.AppendSystem = mode, secret
					inv, err := composer.Compose(req, Choice{Output: output}, testHost())
					if err != nil || inv.Call.Transport == clispec.TransportArgv {
						continue
					}
					require.NotContains(t, strings.Join(inv.Args, " "), secret, "%s %s %s %s", spec.Name, access, mode, output)
				}
			}
		}
	}
}

// A system text with a variable that the CLI would expand is refused with its name. Other texts with braces are not.
func TestSystemTextWithCLIVariable(t *testing.T) {
	for _, test := range []struct {
		name, system, added string
		spec                clispec.Spec
		refused             bool
	}{
		{"list of gemini", "One ${AvailableTools}\ntwo.", "", specs.Gemini(), true},
		{"name of gemini", "${read_file_ToolName}", "", specs.Gemini(), true},
		{"appended for gemini", "a", "${SubAgents}", specs.Gemini(), true},
		{"variable of kimi", "One ${now}.", "", specs.Kimi(), true},
		{"appended for kimi", "", "One ${skills}.", specs.Kimi(), true},
		{"name unknown to gemini", "${HOME}", "", specs.Gemini(), false},
		{"no variable of kimi", "$now {now}", "", specs.Kimi(), false},
		{"another CLI", "${AvailableTools}", "", specs.Claude(), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := call.Prompt("What is ${AvailableTools}?")
			if test.system != "" {
				req.Messages = append(req.Messages, system(test.system))
			}
			req.Options.AppendSystem = test.added
			if test.system == "" {
				req.Options.SystemMode = call.SystemAppend
			}
			_, err := composerOf(t, test.spec).Compose(req, Choice{}, testHost())
			if !test.refused {
				require.Nil(t, err)
				return
			}
			require.ErrorIs(t, err, call.ErrUnsupported)
			require.Contains(t, err.Message, "system text: ")
		})
	}
}
