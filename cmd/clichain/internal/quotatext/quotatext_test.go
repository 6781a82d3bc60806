package quotatext

import (
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "", -time.Hour: "", 15 * time.Minute: "15 minutes", time.Hour: "hour", 5 * time.Hour: "5 hours",
		Day: "day", 3 * Day: "3 days", 7 * Day: "week", 14 * Day: "2 weeks", 30 * Day: "30 days",
		90 * time.Minute: "90 minutes", 299*time.Minute + 30*time.Second: "5 h 0 min",
	} {
		require.Equal(t, want, Length(d))
	}
}

func TestTime(t *testing.T) {
	now := time.Date(2027, 2, 3, 14, 48, 0, 0, time.FixedZone("here", 3600)) // a Wednesday
	for left, want := range map[time.Duration]string{
		time.Hour: "15:48", -time.Hour: "13:48", 10 * time.Hour: "Thu 00:48", 5 * Day: "Mon 14:48",
		-15 * time.Hour: "Tue 23:48", 7 * Day: "10 Feb 14:48", 365 * Day: "3 Feb 14:48",
	} {
		require.Equal(t, want, Time(now.Add(left).UTC(), now))
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 0.29: "29 %", 0.57: "57 %", 0.999: "99 %", 1: "100 %"} {
		require.Equal(t, want, Percent(share))
	}
}

func TestRate(t *testing.T) {
	require.Equal(t, "21 %/h", Rate(0.21, 5*time.Hour))
	require.Equal(t, "0.5 %/h", Rate(0.005, 5*time.Hour))
	require.Equal(t, "12 %/day", Rate(0.005, 7*Day))
}

func TestWindow(t *testing.T) {
	now := time.Date(2027, 2, 3, 14, 48, 0, 0, time.UTC)
	w := call.QuotaWindow{Name: "five_hour", Used: new(0.63), Length: 5 * time.Hour, ResetsAt: now.Add(132 * time.Minute)}
	require.Equal(t, "63 % of 5 hours until 17:00", Window(w, now))
	require.Equal(t, "5 % of daily", Window(call.QuotaWindow{Name: "daily", Used: new(0.05)}, now))
}
