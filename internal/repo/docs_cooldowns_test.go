package repo_test

import (
	"log"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The examples of docs/explanation/cooldowns.md.
func snippetStore(path string) *clichain.Chain {
	store := cooldown.NewFile(path, func(err error) { log.Print(err) })
	chain := clichain.NewChain(specs.All(), &clichain.ChainConfig{Store: store})
	return chain
}

func snippetPolicy(cfg *clichain.ChainConfig) {
	cfg.Policy = map[clichain.Reason]clichain.Rule{
		clichain.ReasonTimeout: {Cooldown: cooldown.Rule{Base: time.Minute, Cap: time.Hour, After: 2, Confirm: true}},
		clichain.ReasonBilling: {Stop: true},
	}
}

func TestCooldownsPage(t *testing.T) {
	code := strings.ReplaceAll(chaintest.Read(t, "internal/repo/docs_cooldowns_test.go")+chaintest.Read(t, "examplepages_test.go"), "\t", "")
	snippets := chaintest.Blocks(chaintest.Read(t, "docs/explanation/cooldowns.md"), "go")
	require.Len(t, snippets, 3)
	for _, snippet := range snippets {
		require.Contains(t, code, strings.ReplaceAll(snippet, "\t", ""))
	}
	var cfg clichain.ChainConfig
	snippetPolicy(&cfg)
	b := chaintest.Failing("a", clichain.ReasonBilling)
	_, err := clichain.ChainOf([]clichain.Backend{b, &chaintest.Backend{ID: "next"}}, &cfg).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrBilling)
	require.Equal(t, "chain", snippetStore(filepath.Join(t.TempDir(), "cooldowns.json")).Name())
}
