package quota_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/quota"
)

func TestFullest(t *testing.T) {
	window := func(name string, used float64, left time.Duration) call.QuotaWindow {
		return call.QuotaWindow{Name: name, Used: &used, ResetsAt: after(left), ObservedAt: start.Add(-time.Hour)}
	}
	unknown := call.QuotaWindow{Name: "unknown", ResetsAt: after(time.Hour)}
	for name, test := range map[string]struct {
		windows []call.QuotaWindow
		want    string
	}{
		"none":                   {nil, ""},
		"unknown use":            {[]call.QuotaWindow{unknown}, ""},
		"most used":              {[]call.QuotaWindow{window("a", 0.2, time.Hour), unknown, window("b", 0.8, time.Hour), window("c", 0.5, time.Hour)}, "b"},
		"equal use, later reset": {[]call.QuotaWindow{window("a", 1, time.Hour), window("b", 1, 50*time.Hour)}, "b"},
		"reset that has passed":  {[]call.QuotaWindow{window("a", 0.9, -time.Minute), window("b", 0.1, time.Hour)}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := quota.Fullest(test.windows, start)
			require.Equal(t, test.want != "", ok)
			require.Equal(t, test.want, got.Name)
		})
	}
}
