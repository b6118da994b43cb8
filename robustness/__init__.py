"""What breaks only under stress: damaged inputs, kills, full disks, long lives, changed code."""
