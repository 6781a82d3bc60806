package history

import (
	"os"
	"testing"

	"github.com/clichain/clichain/clitest/fake"
)

func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }
