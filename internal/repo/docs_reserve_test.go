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
	"github.com/clichain/clichain/order"
	"github.com/clichain/clichain/quota"
	"github.com/clichain/clichain/specs"
)

// The example of docs/how-to/reserve.md.
func snippetReserve(path string) *clichain.Chain {
	chain := clichain.NewChain(specs.All(), &clichain.ChainConfig{
		Store:   cooldown.NewFile(path, func(err error) { log.Print(err) }),
		Reserve: quota.Reserve{Share: 0.3, UseExpiring: 30 * time.Minute},
		Order:   order.Headroom,
	})
	return chain
}

func TestReservePage(t *testing.T) {
	page := chaintest.Read(t, "docs/how-to/reserve.md")
	snippets := chaintest.Blocks(page, "go")
	require.Len(t, snippets, 1)
	require.Contains(t, strings.ReplaceAll(chaintest.Read(t, "internal/repo/docs_reserve_test.go"), "\t", ""), strings.ReplaceAll(snippets[0], "\t", ""))
	require.NoError(t, snippetReserve(filepath.Join(t.TempDir(), "cooldowns.json")).Validate())
	elements := names(table(t, section(t, page, "## Choose the reserve")))
	require.Greater(t, len(elements), 4)
	for _, element := range elements {
		_, err := quota.ParseReserve(strings.ReplaceAll(element, "`", ""))
		require.NoError(t, err)
	}
	setting := strings.Trim(strings.TrimPrefix(chaintest.Blocks(page, "yaml")[0], "reserve: "), `"`)
	got, err := quota.ParseReserve(setting)
	require.NoError(t, err)
	require.Equal(t, quota.Reserve{Rules: []quota.Rule{{Days: "mon-fri", Hours: "08:00-18:00", Share: 0.5}}}, got)
}
