package jetstream_test

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
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
	os.Exit(clitest.Run(m))
}
