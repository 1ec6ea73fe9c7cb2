comm-gpu -b cuda --parts host --min 4K --json host.json
