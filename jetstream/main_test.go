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
		workerMain(url)
		return
	}
	os.Exit(clitest.Run(m))
}
