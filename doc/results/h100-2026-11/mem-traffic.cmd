scripts/dram-traffic -s XL -k stream,temporal2,temporal3
