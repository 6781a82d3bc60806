package inspect

import (
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
)

// manyOffers returns models with all possible details, and names with control characters.
func manyOffers() []offer {
	return []offer{
		{Backend: "codex", Lists: true, Models: []call.Model{
			{Name: "gpt-6.1-sol", Title: "GPT-6.1-Sol", Default: true, DefaultEffort: "low", Efforts: []string{"low", "medium", "high", "xhigh", "max", "ultra"}, Context: 272_000, Inputs: []string{"text", "image"}},
			{Name: "odd\x1b[2J\nname", Title: "odd", Context: 131_072},
		}},
		{Backend: "opencode", Lists: true, Models: []call.Model{
			{Name: "opencode/a-model-with-a-very-long-name.of.a.vendor.with.a.long.name-4711", Title: "Long"}, {Name: "loop/m1", Title: "loop/m1"},
		}},
		{Backend: "cursor-agent"},
		{Backend: "gemini", Lists: true, Failure: &console.Skip{Reason: "not_installed", Message: `no program "gemini" on PATH`, Hint: "npm install -g @google/gemini-cli"}},
	}
}

func TestModelsTable(t *testing.T) {
	consoletest.Golden(t, "models", func(s console.Style, width int) string { return modelsTable(manyOffers(), s, width) },
		"\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[0m")
}
