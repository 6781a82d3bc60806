package clitest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/clichain/clichain"
	"github.com/stretchr/testify/require"
)

// recordDir names the variable with the directory of a process of TestProcessesRecord.
const recordDir = "CLICHAIN_TEST_RECORD"

var longAnswer = strings.Repeat("x", 5_000)

// Processes that record the same requests in one directory, such as the test binaries of two packages, leave one
// complete recording of each. A reader finds only complete ones meanwhile.
func TestProcessesRecord(t *testing.T) {
	const requests = 10
	if dir := os.Getenv(recordDir); dir != "" {
		b := Record(dir, answers(longAnswer))
		for i := range 3 * requests {
			_, err := b.Complete(t.Context(), clichain.Prompt(fmt.Sprint(i%requests)))
			require.NoError(t, err)
		}
		return
	}
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), recordDir+"="+dir, "GORACE=atexit_sleep_ms=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	recordings := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "*.json"))
		require.NoError(t, err)
		return found
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	defer func() { <-done }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			for _, path := range recordings() {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				require.True(t, json.Valid(data), "%s has %d bytes of a recording", path, len(data))
			}
		}
	}
	require.Len(t, recordings(), requests)
	b := Replay(dir)
	for i := range requests {
		for range 3 {
			resp, err := b.Complete(t.Context(), clichain.Prompt(fmt.Sprint(i)))
			require.NoError(t, err)
			require.Equal(t, longAnswer, resp.Text)
		}
	}
}
