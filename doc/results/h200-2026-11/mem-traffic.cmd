scripts/dram-traffic -s XL -k stream,temporal2,temporal3 -o mem-traffic.json himeno-gpu
