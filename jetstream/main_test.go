package jetstream_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/leaks/parallel"
	"github.com/clichain/clichain/internal/norace"
)

// The test binary also plays the fake CLI and a worker process.
func TestMain(m *testing.M) {
	clitest.Main()
	if url := os.Getenv(workerVariable); url != "" {
		if path := os.Getenv(historyVariable); path != "" {
			historyWorker(url, path)
		} else {
			workerMain(url)
		}
		return
	}
	if !norace.Race {
		parallel.Default(4 * runtime.GOMAXPROCS(0)) // most tests wait for a server or a process
	}
	os.Exit(clitest.Run(m))
}
