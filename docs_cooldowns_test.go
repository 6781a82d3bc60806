package clichain_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/specs"
)

// The examples of docs/explanation/cooldowns.md.
func snippetStore(path string) *clichain.Chain {
	store := cooldown.NewFile(path, func(err error) { log.Print(err) })
	chain := clichain.NewChain(specs.All(), &clichain.ChainConfig{Store: store})
	return chain
}

func snippetError(err error) {
	if errors.Is(err, clichain.ErrCoolingDown) {
		be, _ := errors.AsType[*clichain.BackendError](err)
		fmt.Println("again at", be.RetryAfter)
	}
}

func snippetPolicy(cfg *clichain.ChainConfig) {
	cfg.Policy = map[clichain.Reason]clichain.Rule{
		clichain.ReasonTimeout: {Cooldown: cooldown.Rule{Base: time.Minute, Cap: time.Hour, After: 2, Confirm: true}},
		clichain.ReasonBilling: {Stop: true},
	}
}

func TestCooldownsPage(t *testing.T) {
	code := strings.ReplaceAll(read(t, "docs_cooldowns_test.go"), "\t", "")
	snippets := blocks(read(t, "docs/explanation/cooldowns.md"), "go")
	require.Len(t, snippets, 3)
	for _, snippet := range snippets {
		require.Contains(t, code, strings.ReplaceAll(snippet, "\t", ""))
	}
	var cfg clichain.ChainConfig
	snippetPolicy(&cfg)
	b := failing("a", clichain.ReasonBilling)
	_, err := clichain.ChainOf([]clichain.Backend{b, &backend{name: "next"}}, &cfg).Complete(t.Context(), clichain.Prompt("hi"))
	require.ErrorIs(t, err, clichain.ErrBilling)
	require.Equal(t, "chain", snippetStore(filepath.Join(t.TempDir(), "cooldowns.json")).Name())
}

func ExampleErrCoolingDown() {
	at := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
	store := cooldown.NewMemory()
	limit := &clichain.BackendError{Reason: clichain.ReasonUsageLimit, RetryAfter: time.Now().Add(time.Hour)}
	c := clichain.ChainOf([]clichain.Backend{&instant{"a", limit}}, &clichain.ChainConfig{Store: store})
	for range 2 {
		_, err := c.Complete(context.Background(), clichain.Prompt("hi"))
		fmt.Println("resting:", errors.Is(err, clichain.ErrCoolingDown))
	}
	snippetError(&clichain.BackendError{Reason: clichain.ReasonCoolingDown, RetryAfter: at})
	// Output:
	// resting: false
	// resting: true
	// again at 2026-11-21 15:00:00 +0000 UTC
}
