package jetstream_test

import (
	"flag"
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
)

// The test binary is the fake CLI, and a worker process, too.
func TestMain(m *testing.M) {
	clitest.Main()
	if url := os.Getenv(workerVariable); url != "" {
		workerMain(url)
		return
	}
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		_ = parallel.Value.Set("8") // the tests wait most of their time
	}
	os.Exit(m.Run())
}
