package monitoring

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
)

func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }
