package quota_test

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/quota"
)

// A batch leaves 30 % of each window to the person who owns the plan, but none in the evening and on weekends.
func ExampleReserve_Check() {
	now := time.Date(2026, 11, 20, 14, 5, 0, 0, time.Local) // a Friday
	windows := []call.QuotaWindow{{
		Name: "seven_day", Used: new(0.72), Length: 7 * 24 * time.Hour,
		ResetsAt: now.AddDate(0, 0, 3), ObservedAt: now,
	}}
	reserve := quota.Reserve{
		Share: 0.3, // of each window, but nothing in the evening and on weekends
		Rules: []quota.Rule{{Hours: "18:00-24:00"}, {Days: "sat,sun"}},
	}
	until, ok := reserve.Check("claude", windows, now)
	fmt.Println(ok, until.Format("Mon 15:04"))
	// Output: false Fri 18:00
}
