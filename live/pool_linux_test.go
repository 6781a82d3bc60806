package live_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

// A process that dies while it is idle is removed from the pool.
func TestPoolRemovesProcessThatDiesIdle(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", "", patient, nil)
	_, err := b.Complete(t.Context(), clichain.Prompt("say x"))
	require.NoError(t, err)
	idle(t, b, p)
	program := b.(interface{ Config() clichain.Config }).Config().Binary
	for _, s := range clitest.Survivors(program) {
		require.NoError(t, syscall.Kill(s.Pid, syscall.SIGKILL))
	}
	require.Eventually(t, func() bool { return len(clitest.Survivors(program)) == 0 }, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool {
		resp, err := b.Complete(t.Context(), clichain.Prompt("say y"))
		return err == nil && resp.Text == "y"
	}, time.Minute, time.Millisecond)
	require.Equal(t, 2, p.Stats().Started)
}

// A process whose memory has grown too much is replaced.
func TestPoolReplacesGrownProcess(t *testing.T) {
	p, b := pooled(t, "acp", "", patient, &live.PoolConfig{MaxGrowth: 64 << 20})
	for _, text := range []string{"say one", "say two", "grow three", "say four"} {
		_, err := b.Complete(t.Context(), clichain.Prompt(text))
		require.NoError(t, err)
		idle(t, b, p)
	}
	require.Equal(t, 2, p.Stats().Started)
}
