package cache_test

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest"
)

func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }
