package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// clouds lists credentials that most calls of most CLIs do not need.
var clouds = []string{
	"AWS_SECRET_ACCESS_KEY=a", "AWS_REGION=a", "AZURE_API_KEY=a", "AZURE_OPENAI_API_KEY=a", "GOOGLE_APPLICATION_CREDENTIALS=a", "GOOGLE_CLOUD_PROJECT=a",
	"VERTEX_REGION_X=a", "ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=a", "GITHUB_TOKEN=a", "HF_TOKEN=a", "GROQ_API_KEY=a",
}

// Credentials of clouds and other vendors reach only a CLI that is configured to use them.
func TestPassEnvIf(t *testing.T) {
	vertex := []string{"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"}
	for _, test := range []struct {
		name    string
		spec    clispec.Spec
		environ string
		model   string
		own     []string // passed in every case
		want    []string
	}{
		{"claude", specs.Claude(), "", "", []string{"ANTHROPIC_API_KEY"}, nil},
		{"claude on Bedrock", specs.Claude(), "CLAUDE_CODE_USE_BEDROCK=1", "", []string{"ANTHROPIC_API_KEY"}, []string{"AWS_SECRET_ACCESS_KEY", "AWS_REGION"}},
		{"claude not on Bedrock", specs.Claude(), "CLAUDE_CODE_USE_BEDROCK=0", "", []string{"ANTHROPIC_API_KEY"}, nil},
		{"claude on Vertex", specs.Claude(), "CLAUDE_CODE_USE_VERTEX=true", "", []string{"ANTHROPIC_API_KEY"}, append(vertex, "VERTEX_REGION_X")},
		{"claude on Foundry", specs.Claude(), "CLAUDE_CODE_USE_FOUNDRY=1", "", []string{"ANTHROPIC_API_KEY"}, []string{"AZURE_API_KEY", "AZURE_OPENAI_API_KEY"}},
		{"gemini", specs.Gemini(), "", "", nil, nil},
		{"gemini on Vertex", specs.Gemini(), "GOOGLE_GENAI_USE_VERTEXAI=true", "", nil, vertex},
		{"codex", specs.Codex(), "", "", []string{"OPENAI_API_KEY"}, nil},
		{"cursor-agent", specs.Cursor(), "", "", nil, nil},
		{"opencode", specs.OpenCode(), "", "", nil, nil},
		{"opencode, model of a vendor", specs.OpenCode(), "", "anthropic/claude-sonnet-5", nil, []string{"ANTHROPIC_API_KEY"}},
		{"opencode, model of a cloud", specs.OpenCode(), "", "amazon-bedrock/anthropic.claude", nil, []string{"AWS_SECRET_ACCESS_KEY", "AWS_REGION"}},
		{"opencode, model with a similar name", specs.OpenCode(), "", "anthropics/x", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := testHost()
			h.Environ = append(append([]string{}, clouds...), test.environ)
			vars := h.Passed(&test.spec, test.model)
			var got []string
			for name, value := range vars {
				if value == "a" {
					got = append(got, name)
				}
			}
			require.ElementsMatch(t, append(test.own, test.want...), got)
		})
	}
}

// A file enables only its own rule. A variable of the caller can act as a switch.
func TestPassEnvIfConditions(t *testing.T) {
	spec := clispec.Spec{Name: "mine", Binary: "mine", DropEnv: []string{"B_DROPPED"}, PassEnvIf: []clispec.PassRule{
		{Pass: []string{"A_*"}, Env: []string{"USE_A"}}, {Pass: []string{"B_*"}, Files: []clispec.FileFact{{Path: "~/b"}}}, {Pass: []string{"C"}, Env: []string{"A_SWITCH"}},
	}}
	h := testHost()
	h.Environ = []string{"A_KEY=a", "A_SWITCH=1", "B_KEY=b", "B_DROPPED=b", "C=c"}
	require.Empty(t, h.Passed(&spec, ""))
	h.Shown = []bool{false, true, false}
	require.Equal(t, map[string]string{"B_KEY": "b"}, h.Passed(&spec, ""))
	h.Shown, h.Env = nil, []string{"USE_A=1", "A_KEY=mine"}
	require.Equal(t, map[string]string{"USE_A": "1", "A_KEY": "mine", "A_SWITCH": "1"}, h.Passed(&spec, ""), "what a rule passes is no sign for another")
}

// A shell runs BASH_ENV before its command, so that it passes only by its exact name.
func TestShellVariables(t *testing.T) {
	spec := clispec.Spec{Name: "mine", Binary: "mine", PassEnv: []string{"BASH_*", "ENV"}}
	environ := []string{"BASH_ENV=x", "ENV=x", "BASH_FUNC_git%%=() { :; }", "BASH_MAX_TIMEOUT_MS=1"}
	for _, test := range []struct {
		name   string
		change func(*Host)
		want   []string
	}{
		{"name in a spec", func(*Host) {}, []string{"BASH_MAX_TIMEOUT_MS"}},
		{"inherited", func(h *Host) { h.InheritEnv = true }, []string{"BASH_MAX_TIMEOUT_MS"}},
		{"prefix from the caller", func(h *Host) { h.PassEnv = []string{"BASH_*", "EN*"} }, []string{"BASH_MAX_TIMEOUT_MS"}},
		{"exact name from the caller", func(h *Host) { h.PassEnv = []string{"BASH_ENV"} }, []string{"BASH_MAX_TIMEOUT_MS", "BASH_ENV"}},
		{"set by the caller", func(h *Host) { h.Env = []string{"ENV=mine"} }, []string{"BASH_MAX_TIMEOUT_MS", "ENV"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := testHost()
			h.Environ = environ
			test.change(&h)
			var got []string
			for name := range h.Passed(&spec, "") {
				got = append(got, name)
			}
			require.ElementsMatch(t, test.want, got)
		})
	}
}

// A confined CLI may read the credentials of a cloud only if it is configured to use that cloud.
func TestReadFollowsPassEnvIf(t *testing.T) {
	spec := clispec.Spec{
		Name: "mine", Binary: "mine", Confine: clispec.ConfineRules{Read: []string{"/etc/mine"}},
		PassEnvIf: []clispec.PassRule{
			{Pass: []string{"A_*"}, Env: []string{"USE_A"}, Read: []string{"~/.a", "${A_FILE}"}},
			{Pass: []string{"B_*"}, Models: []string{"b/"}, Read: []string{"~/.b"}},
			{Pass: []string{"C_*"}, Files: []clispec.FileFact{{Path: "~/.mine"}}, Read: []string{"~/.c"}},
		},
	}
	for _, test := range []struct {
		name, model string
		change      func(*Host)
		want        []string
	}{
		{"no cloud", "", func(*Host) {}, nil},
		{"variable", "", func(h *Host) { h.Env = []string{"USE_A=1"} }, []string{"~/.a", "${A_FILE}"}},
		{"model", "b/m", func(*Host) {}, []string{"~/.b"}},
		{"file", "", func(h *Host) { h.Shown = []bool{false, false, true} }, []string{"~/.c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := testHost()
			test.change(&h)
			_, got, _ := h.passed(&spec, test.model)
			require.Equal(t, append([]string{"/etc/mine"}, test.want...), got)
			require.Equal(t, []string{"/etc/mine"}, spec.Confine.Read)
		})
	}
}
