package resettime

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWall(t *testing.T) {
	for name, at := range map[string]time.Time{
		"now, with a monotonic reading": time.Now(),
		"another zone":                  time.Date(2026, 11, 26, 6, 0, 0, 5, time.FixedZone("x", 3600)),
		"no time":                       {},
		"no time in another zone":       time.Time{}.In(time.FixedZone("x", 3600)),
	} {
		t.Run(name, func(t *testing.T) {
			got := Wall(at)
			require.True(t, at.Equal(got))
			text, err := json.Marshal(got)
			require.NoError(t, err)
			var copied time.Time
			require.NoError(t, json.Unmarshal(text, &copied))
			require.Equal(t, copied, got)
			require.Equal(t, at.IsZero(), got == time.Time{})
		})
	}
}
