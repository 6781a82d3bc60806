package clichain_test

import (
	"testing"

	"github.com/clichain/clichain/internal/chaintest"
)

func TestMain(m *testing.M) { chaintest.Main(m) }
