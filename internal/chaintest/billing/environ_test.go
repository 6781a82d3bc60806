package billing_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The user's own files determine which credentials a CLI uses. Files of an untrusted directory do not.
func TestPassedByFiles(t *testing.T) {
	keys := []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "GITHUB_TOKEN", "HF_TOKEN", "AWS_PROFILE", "AZURE_OPENAI_API_KEY", "GOOGLE_CLOUD_PROJECT",
	}
	for _, test := range []struct {
		name, backend, path, content string
		env                          map[string]string
		want                         []string
	}{
		{"opencode: a provider", "opencode", ".config/opencode/opencode.json", `{"provider":{"openai":{}}}`, nil, []string{"OPENAI_API_KEY"}},
		{"opencode: a model", "opencode", ".config/opencode/opencode.jsonc", "{// mine\n\"model\": \"anthropic/claude-sonnet-5\",}", nil, []string{"ANTHROPIC_API_KEY"}},
		{"opencode: a variable", "opencode", ".config/opencode/config.json", `{"provider":{"x":{"options":{"apiKey":"{env:GROQ_API_KEY}"}}}}`, nil, []string{"GROQ_API_KEY"}},
		{"opencode: enabled", "opencode", ".config/opencode/opencode.json", `{"enabled_providers":["x","huggingface"]}`, nil, []string{"HF_TOKEN"}},
		{"opencode: disabled", "opencode", ".config/opencode/opencode.json", `{"disabled_providers":["openai"]}`, nil, nil},
		{"opencode: elsewhere", "opencode", "c.json", `{"model":"amazon-bedrock/x"}`, map[string]string{"OPENCODE_CONFIG": "$HOME/c.json"}, []string{"AWS_PROFILE"}},
		{"opencode: the folder's", "opencode", "work/opencode.json", `{"provider":{"openai":{},"x":{"options":{"apiKey":"{env:GITHUB_TOKEN}"}}}}`, nil, nil},
		{"claude: Bedrock in the settings", "claude", ".claude/settings.json", `{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}`, nil, []string{"ANTHROPIC_API_KEY", "AWS_PROFILE"}},
		{"claude: no Bedrock in the settings", "claude", ".claude/settings.json", `{"env":{"CLAUDE_CODE_USE_BEDROCK":"0"}}`, nil, []string{"ANTHROPIC_API_KEY"}},
		{"claude: the folder's", "claude", "work/.claude/settings.json", `{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}`, nil, []string{"ANTHROPIC_API_KEY"}},
		{"codex: Azure", "codex", ".codex/config.toml", "model_provider = \"azure\"\n", nil, []string{"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"}},
		{"codex: Azure in a comment", "codex", ".codex/config.toml", "# no azure\n", nil, []string{"OPENAI_API_KEY"}},
		{"gemini: Vertex in the settings", "gemini", ".gemini/settings.json", `{"security":{"auth":{"selectedType":"vertex-ai"}}}`, nil, []string{"GOOGLE_CLOUD_PROJECT"}},
		{"gemini: a plan that needs a project", "gemini", ".gemini/settings.json", `{"security":{"auth":{"selectedType":"oauth-personal"}}}`, nil, []string{"GOOGLE_CLOUD_PROJECT"}},
		{"gemini: a key in the settings", "gemini", ".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, _ := chaintest.FreshMachine(t, chaintest.Play())
			for _, key := range keys {
				t.Setenv(key, "passed")
			}
			for name, value := range test.env {
				t.Setenv(name, strings.ReplaceAll(value, "$HOME", home))
			}
			t.Chdir(filepath.Dir(chaintest.Write(t, home, "work/x", "")))
			chaintest.Write(t, home, test.path, test.content)
			spec, _ := specs.ByName(test.backend)
			var got []string
			for name, value := range clichain.NewProvider(spec, nil).Environ() {
				if value == "passed" {
					got = append(got, name)
				}
			}
			require.ElementsMatch(t, test.want, got)
		})
	}
}

// The login of a backend is the login of the model: its key passes only with the model.
func TestLoginOfTheModel(t *testing.T) {
	chaintest.FreshMachine(t, chaintest.Play())
	chaintest.SetOnline(t, true)
	t.Setenv("OPENAI_API_KEY", "x")
	p := clichain.NewProvider(specs.OpenCode(), &clichain.Config{Sandbox: clichain.SandboxOn})
	for range 2 { // the answer for one model is not valid for another
		req := clichain.Prompt("hi")
		_, err := p.Complete(t.Context(), req)
		chaintest.RequireReason(t, clichain.ReasonSuppressed, err)
		req.Model = "openai/gpt-5"
		_, err = p.Complete(t.Context(), req)
		chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
	}
}

// No entry of the child's PATH means its working directory: neither in a call nor in a probe, nor for the client of a
// container.
func TestPathOfTheChild(t *testing.T) {
	clitest.NoLeaks(t)
	sep := string(os.PathListSeparator)
	abs := t.TempDir()
	t.Setenv("PATH", strings.Join([]string{"", ".", abs, "bin", "../x", ""}, sep))
	for _, test := range []struct {
		name string
		cfg  clichain.Config
		want string
	}{
		{"passed", clichain.Config{}, abs},
		{"inherited", clichain.Config{InheritEnv: true}, abs},
		{"set by the caller", clichain.Config{Env: []string{"PATH=." + sep + abs}}, abs},
		{"nothing remains", clichain.Config{Env: []string{"PATH=." + sep}}, "/usr/bin:/bin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			p := chaintest.Provider(t, specs.Claude(), test.cfg, chaintest.Play(clitest.Step{Record: record}, chaintest.ReadStdin, chaintest.Stdout(chaintest.ResultLine("hi")+"\n")))
			_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, []string{"PATH=" + test.want}, pathsOf(t, record))
			require.NoError(t, os.Remove(record))
			_, err = p.Probe(t.Context(), []string{"--version"}, time.Minute)
			require.NoError(t, err)
			require.Equal(t, []string{"PATH=" + test.want}, pathsOf(t, record), "of a probe")
		})
	}
	t.Run("PATH of a container's client", func(t *testing.T) {
		record := filepath.Join(t.TempDir(), "record")
		client := clitest.Fake(t, "docker", chaintest.Play(clitest.Step{Record: record}, chaintest.ReadStdin, chaintest.Stdout(chaintest.ResultLine("hi")+"\n")))
		p := clichain.NewProvider(specs.Claude(), &clichain.Config{Container: &clichain.Container{Runtime: client, Image: "image"}})
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, []string{"PATH=" + abs}, pathsOf(t, record))
	})
}

func pathsOf(t *testing.T, record string) []string {
	t.Helper()
	r, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	return slices.DeleteFunc(r.Env, func(kv string) bool { return !strings.HasPrefix(kv, "PATH=") })
}
