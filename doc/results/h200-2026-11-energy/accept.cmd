himeno-gpu --accept default -b cuda --json accept.json
