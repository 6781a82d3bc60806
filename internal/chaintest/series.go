package chaintest

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// CooldownsAfter returns the cooldowns after each of ten consecutive failures of different requests. The chain asks the
// backend again as soon as a cooldown ends. probed: from the first cooldown on, probes failed and not requests.
func CooldownsAfter(
	t *testing.T, cfg clichain.ChainConfig, reason clichain.Reason,
) (cooldowns []time.Duration, probed bool) {
	synctest.Test(t, func(t *testing.T) {
		a := Failing("a", reason)
		c := OnClock(clichain.ChainOf([]clichain.Backend{a}, &cfg), 0.5, nil)
		for n := range 10 {
			_, err := c.Complete(t.Context(), clichain.Prompt(fmt.Sprint("hi ", n)))
			require.Equal(t, n+1, a.Asked)
			until := CoolingUntil(t, c, a)
			probed = !until.IsZero() && errors.Is(err, clichain.ErrCoolingDown)
			if !probed {
				RequireReason(t, reason, err)
			}
			if until.IsZero() {
				cooldowns = append(cooldowns, 0)
				continue
			}
			cooldowns = append(cooldowns, time.Until(until))
			time.Sleep(time.Until(until) - time.Nanosecond)
			_, err = c.Complete(t.Context(), clichain.Prompt(fmt.Sprint("hello ", n)))
			be := RequireReason(t, clichain.ReasonCoolingDown, err)
			require.True(t, until.Equal(be.RetryAfter))
			require.Equal(t, n+1, a.Asked, "it is in cooldown to the end")
			time.Sleep(time.Nanosecond)
		}
	})
	return cooldowns, probed
}

// CooldownText formats a series of cooldowns as in docs/reference/errors.md.
func CooldownText(cooldowns []time.Duration, probed bool) string {
	first := 0
	for first < len(cooldowns) && cooldowns[first] == 0 {
		first++
	}
	if first == len(cooldowns) {
		return "–"
	}
	text := minutes(cooldowns[first])
	if last := cooldowns[len(cooldowns)-1]; last != cooldowns[first] {
		text += " to " + minutes(last)
	}
	switch {
	case probed:
		text = fmt.Sprintf("after %d and a probe: %s", first, text)
	case first > 0:
		text = fmt.Sprintf("after %d: %s", first+1, text)
	}
	return text
}

func minutes(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}
