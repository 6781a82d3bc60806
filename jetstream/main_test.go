package jetstream_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/clichain/clichain/clitest"
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
	// Most tests wait for a server or a process, except with the race detector. The flag -parallel of go test has
	// precedence.
	if !norace.Race {
		if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(clitest.Run(m))
}
